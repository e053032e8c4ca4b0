# Stand-ins for the base images of the Dockerfile and for the images of docker-compose.yml, from Debian's packages.
# .ci/compose makes vayu-debian and the context.
FROM vayu-debian AS haproxy
CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]

FROM vayu-debian AS postgres
COPY postgres.sh /usr/local/bin/
RUN usermod --uid 999 postgres && groupmod --gid 999 postgres && \
    install -d -m 700 -o 999 -g 999 /var/lib/postgresql/data && ln -s /usr/lib/postgresql/*/bin /opt/postgresql
ENV PATH=/opt/postgresql:/usr/local/bin:/usr/bin:/bin PGDATA=/var/lib/postgresql/data LANG=C.UTF-8
VOLUME /var/lib/postgresql/data
STOPSIGNAL SIGINT
ENTRYPOINT ["bash", "/usr/local/bin/postgres.sh"]

FROM vayu-debian AS kafka
COPY kafka/libs /opt/kafka/libs
COPY kafka.sh kafka-broker-api-versions.sh /opt/kafka/bin/
RUN chmod 755 /opt/kafka/bin/* && install -d -o 1000 -g 1000 /var/lib/kafka/data
VOLUME /var/lib/kafka/data
ENTRYPOINT ["/opt/kafka/bin/kafka.sh"]

FROM vayu-debian AS clickhouse
COPY vayu libchdb.so /opt/vayu/
COPY clickhouse.sh /usr/local/bin/
RUN install -d -m 700 -o 101 -g 101 /var/lib/clickhouse
VOLUME /var/lib/clickhouse
ENTRYPOINT ["bash", "/usr/local/bin/clickhouse.sh"]

FROM vayu-debian AS prometheus
RUN install -d -o nobody -g nogroup /prometheus
USER nobody
WORKDIR /prometheus
VOLUME /prometheus
ENTRYPOINT ["prometheus"]

FROM vayu-debian AS node
COPY node/node /usr/local/bin/
COPY node/npm /usr/local/lib/node_modules/npm
COPY node/cache /npm/_cacache
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ENV npm_config_cache=/npm npm_config_offline=true

FROM vayu-debian AS golang
COPY go/root /usr/local/go
COPY go/modules /modules
# go.sum proves the modules; the database of checksums is not within reach.
ENV PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin GOPROXY=file:///modules GOSUMDB=off GOTOOLCHAIN=local

# Fills the cache of the compiler that the Dockerfile mounts.
FROM golang AS compiled
COPY go/compiled /compiled
RUN --mount=type=cache,target=/root/.cache/go-build cp -a /compiled/. /root/.cache/go-build
