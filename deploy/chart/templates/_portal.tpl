{{/* What all processes have in common. Each template takes (dict "root" $ "process" NAME). */}}

{{- define "portal.labels" -}}
{{ include "portal.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "portal.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .process }}
{{- end }}

{{/* Which rights in the cluster the pod has: those that only write rows have none. */}}
{{- define "portal.account" -}}
{{- if has .process (list "web" "worker" "watcher") -}}
serviceAccountName: {{ .root.Release.Name }}
{{- else -}}
automountServiceAccountToken: false
{{- end }}
{{- end }}

{{- define "portal.pod" -}}
{{ include "portal.account" . }}
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
volumes:
  - name: secrets
    secret: {secretName: {{ .root.Values.secret }}, defaultMode: 0440}
  - name: tmp
    emptyDir: {}
{{- end }}

{{- define "portal.container" -}}
{{- if not .root.Values.hosts }}{{ fail "hosts: at least one host name is needed" }}{{ end -}}
name: {{ .process }}
image: {{ printf "%s:%s" .root.Values.image.repository (.root.Values.image.tag | default .root.Chart.AppVersion) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
env:
  - {name: PORTAL_HOSTS, value: {{ join "," .root.Values.hosts | quote }}}
  - {name: PORTAL_BEHIND_PROXY, value: "true"}
  - {name: PORTAL_SECRET_KEY_FILE, value: /etc/portal/secret_key}
  - {name: PORTAL_DATABASE_URL_FILE, value: /etc/portal/database_url}
  - {name: PORTAL_BROKER_URL_FILE, value: /etc/portal/broker_url}
  - {name: PORTAL_METRICS_TOKEN_FILE, value: /etc/portal/metrics_token}
  {{- range $name, $value := .root.Values.settings }}
  - {name: {{ $name }}, value: {{ $value | quote }}}
  {{- end }}
volumeMounts:
  - {name: secrets, mountPath: /etc/portal, readOnly: true}
  - {name: tmp, mountPath: /tmp}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
resources: {{ toYaml (index .root.Values .process).resources | nindent 2 }}
{{- end }}
