"""Names that Kueue, Kubernetes and HyperPod put on the wire. The only list of them."""

from typing import Final

KUEUE_GROUP: Final = "kueue.x-k8s.io"
KUEUE_VERSIONS: Final = ("v1beta2", "v1beta1")
VISIBILITY_GROUP: Final = "visibility.kueue.x-k8s.io"

# Labels and annotations
QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
PRIORITY_CLASS_LABEL: Final = "kueue.x-k8s.io/priority-class"
JOB_UID_LABEL: Final = "kueue.x-k8s.io/job-uid"
PRIORITY_BOOST_ANNOTATION: Final = "kueue.x-k8s.io/priority-boost"
WORKLOAD_ANNOTATION: Final = "kueue.x-k8s.io/workload"
POD_GROUP_LABEL: Final = "kueue.x-k8s.io/pod-group-name"
POD_SET_LABEL: Final = "kueue.x-k8s.io/podset"
ADMISSION_GATE_ANNOTATION: Final = "kueue.x-k8s.io/admission-gated-by"
INSTANCE_TYPE_LABEL: Final = "node.kubernetes.io/instance-type"
NODE_HEALTH_LABEL: Final = "sagemaker.amazonaws.com/node-health-status"
NODE_SCHEDULABLE: Final = "Schedulable"
TEAM_LABEL: Final = "sagemaker.amazonaws.com/quota-allocation-id"
MANAGED_QUEUE_LABEL: Final = "sagemaker.amazonaws.com/sagemaker-managed-queue"

# The portal's own annotations
CHECKPOINT_INTERVAL_ANNOTATION: Final = "hyperpod-portal/checkpoint-interval"
SUBMITTED_BY_ANNOTATION: Final = "hyperpod-portal/submitted-by"
LAST_CHECKPOINT_ANNOTATION: Final = "hyperpod-portal/last-checkpoint"

# Kinds of jobs that serve, or that a person works in: what they lose is not work
ENDPOINT_KINDS: Final = (
    "InferenceEndpointConfig", "JumpStartModel", "Deployment", "ReplicaSet", "StatefulSet", "LeaderWorkerSet",
    "RayService",
)  # fmt: skip
SPACE_KINDS: Final = ("Workspace",)

# The label with their job's name that pods of some kinds of jobs carry
_TRAINING_JOB_LABEL: Final = "training.kubeflow.org/job-name"
_JOB_SET_LABEL: Final = "jobset.sigs.k8s.io/jobset-name"
POD_LABEL_OF_KIND: Final = {
    "Job": "batch.kubernetes.io/job-name",
    "HyperPodPyTorchJob": "HPJob",
    "JobSet": _JOB_SET_LABEL,
    "TrainJob": _JOB_SET_LABEL,
    "RayCluster": "ray.io/cluster",
    "LeaderWorkerSet": "leaderworkerset.sigs.k8s.io/name",
    **dict.fromkeys(("PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob"), _TRAINING_JOB_LABEL),
}

# HyperPod's own spelling of namespaces and queues
TEAM_NAMESPACE_PREFIX: Final = "hyperpod-ns-"
IDLE_QUEUE_PREFIX: Final = "hyperpod-ns-idle-resource-sharing-cq-"

# Workload conditions
QUOTA_RESERVED: Final = "QuotaReserved"
ADMITTED: Final = "Admitted"
EVICTED: Final = "Evicted"
PREEMPTED: Final = "Preempted"
REQUEUED: Final = "Requeued"
PODS_READY: Final = "PodsReady"
FINISHED: Final = "Finished"
WAITING_FOR_REPLACEMENT_PODS: Final = "WaitingForReplacementPods"
ACTIVE: Final = "Active"

# Reasons of QuotaReserved=False that waiting alone does not mend
INADMISSIBLE_REASONS: Final = ("Inadmissible", "ExceedsMaxQuota", "NoMatchingFlavor", "Misconfigured")

# Reasons of QuotaReserved=False
PENDING: Final = "Pending"
ON_HOLD: Final = "OnHold"

# Reasons of Evicted
ADMISSION_CHECK: Final = "AdmissionCheck"
CLUSTER_QUEUE_STOPPED: Final = "ClusterQueueStopped"
LOCAL_QUEUE_STOPPED: Final = "LocalQueueStopped"
DEACTIVATED: Final = "Deactivated"
PODS_READY_TIMEOUT: Final = "PodsReadyTimeout"
NODE_FAILURES: Final = "NodeFailures"
FLAVOR_MIGRATION: Final = "FlavorMigration"

# Causes that come with them
REQUEUING_LIMIT_EXCEEDED: Final = "RequeuingLimitExceeded"
MAXIMUM_EXECUTION_TIME_EXCEEDED: Final = "MaximumExecutionTimeExceeded"

# Reasons of Finished
SUCCEEDED: Final = "Succeeded"
FAILED: Final = "Failed"
OWNER_NOT_FOUND: Final = "OwnerNotFound"

# Reasons of Preempted, and what Kueue writes after "due to"
IN_CLUSTER_QUEUE: Final = "InClusterQueue"
IN_COHORT_RECLAMATION: Final = "InCohortReclamation"
IN_COHORT_FAIR_SHARING: Final = "InCohortFairSharing"
IN_COHORT_RECLAIM_WHILE_BORROWING: Final = "InCohortReclaimWhileBorrowing"
PREEMPTION_WORDING: Final = {
    IN_CLUSTER_QUEUE: "prioritization in the ClusterQueue",
    IN_COHORT_RECLAMATION: "reclamation within the cohort",
    IN_COHORT_FAIR_SHARING: "Fair Sharing within the cohort",
    IN_COHORT_RECLAIM_WHILE_BORROWING: "reclamation within the cohort while borrowing",
}

# Why a pod was stopped (its condition DisruptionTarget, or its own reason), where its node was to blame
DISRUPTION_TARGET: Final = "DisruptionTarget"
NODE_FAULTS: Final = (
    "DeletionByTaintManager", "DeletionByPodGC", "TerminationByKubelet", "NodeLost", "NodeShutdown", "Shutdown",
    "Terminated", "Evicted", "UnexpectedAdmissionError",
)  # fmt: skip

# Policies
NEVER: Final = "Never"
ANY: Final = "Any"
LOWER_PRIORITY: Final = "LowerPriority"
LOWER_OR_NEWER_EQUAL_PRIORITY: Final = "LowerOrNewerEqualPriority"
STRICT_FIFO: Final = "StrictFIFO"
BEST_EFFORT_FIFO: Final = "BestEffortFIFO"
STOP_NONE: Final = "None"
HOLD: Final = "Hold"
HOLD_AND_DRAIN: Final = "HoldAndDrain"

# Resources
CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
HUGE_PAGES_PREFIX: Final = "hugepages-"
PODS: Final = "pods"
NVIDIA_GPU: Final = "nvidia.com/gpu"
NEURON_DEVICE: Final = "aws.amazon.com/neurondevice"
EFA: Final = "vpc.amazonaws.com/efa"
_ACCELERATORS: Final = (NVIDIA_GPU, NEURON_DEVICE, "aws.amazon.com/neuroncore", "amd.com/gpu")
_MIG_PREFIX: Final = "nvidia.com/mig-"


def is_accelerator(resource: str) -> bool:
    """Whether people count this resource as GPUs (whole devices or MIG slices)."""
    return resource in _ACCELERATORS or resource.startswith(_MIG_PREFIX)


def is_bytes(resource: str) -> bool:
    """Whether amounts of this resource are bytes, written with binary suffixes."""
    return resource in (MEMORY, EPHEMERAL_STORAGE) or resource.startswith(HUGE_PAGES_PREFIX)


def is_pod_level(resource: str) -> bool:
    """Whether a pod may ask for this resource as a whole, besides its containers."""
    return resource in (CPU, MEMORY) or resource.startswith(HUGE_PAGES_PREFIX)


def is_idle_queue(cluster_queue: str) -> bool:
    """Whether HyperPod made this ClusterQueue for capacity that no quota covers."""
    return cluster_queue.startswith(IDLE_QUEUE_PREFIX)
