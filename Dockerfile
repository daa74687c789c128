# One image for every process of the portal; docker-compose.yml and deploy/chart say how each is started.
#   docker build --tag hyperpod-portal .

FROM node:22 AS assets
WORKDIR /app
COPY Makefile package.json package-lock.json ./
# the rule of `make setup`, without its Python
RUN make --old-file .venv/.run var/vendor/.ready

FROM python:3.12-slim AS packages
COPY requirements/run.txt /
RUN python -m venv /opt/portal \
    && /opt/portal/bin/pip install --no-cache-dir --require-hashes --requirement /run.txt

FROM python:3.12-slim
ENV PATH=/opt/portal/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PORTAL_BIND=0.0.0.0:8000 \
    PORTAL_STATIC_ROOT=/app/var/static \
    PORTAL_VAR=/tmp
WORKDIR /app
COPY --from=packages /opt/portal /opt/portal
COPY . .
COPY --from=assets /app/var/vendor var/vendor
# the key and the mode are of this one command; neither stays in the image
RUN PORTAL_MODE=demo PORTAL_BIND=127.0.0.1:8000 PORTAL_SECRET_KEY=none python manage.py collectstatic --no-input \
    && python -m compileall -q .
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["python", "deploy/probe.py", "/healthz"]
CMD ["gunicorn", "--config", "deploy/gunicorn.conf.py"]
