#!/bin/bash
# In place of the command of Kafka's distribution, for the health check: the broker accepts connections.
exec 3<>"/dev/tcp/${2%:*}/${2#*:}"
