package columnstore

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
)

// transientCodes are ClickHouse's names of errors after which a retry may succeed. A server, a node of a cluster
// or Keeper is then unavailable, starting or overloaded.
var transientCodes = map[int32]string{
	3:    "UNEXPECTED_END_OF_FILE",
	32:   "ATTEMPT_TO_READ_AFTER_EOF",
	159:  "TIMEOUT_EXCEEDED", // also ON CLUSTER, when a node has not answered in time
	198:  "DNS_ERROR",
	202:  "TOO_MANY_SIMULTANEOUS_QUERIES",
	209:  "SOCKET_TIMEOUT",
	210:  "NETWORK_ERROR",
	225:  "NO_ZOOKEEPER",
	236:  "ABORTED", // the server is stopping
	241:  "MEMORY_LIMIT_EXCEEDED",
	242:  "TABLE_IS_READ_ONLY", // a replica that has lost Keeper
	244:  "UNEXPECTED_ZOOKEEPER_ERROR",
	254:  "NO_ACTIVE_REPLICAS",
	279:  "ALL_CONNECTION_TRIES_FAILED",
	285:  "TOO_FEW_LIVE_REPLICAS",
	286:  "UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE",
	319:  "UNKNOWN_STATUS_OF_INSERT",
	341:  "UNFINISHED", // a replica has not finished an ALTER yet
	369:  "ALL_REPLICAS_ARE_STALE",
	394:  "QUERY_WAS_CANCELLED",
	415:  "ALL_REPLICAS_LOST",
	473:  "DEADLOCK_AVOIDED",
	517:  "CANNOT_ASSIGN_ALTER", // another ALTER goes first
	519:  "NO_REMOTE_SHARD_AVAILABLE",
	745:  "SERVER_OVERLOADED",
	999:  "KEEPER_EXCEPTION",
	1000: "POCO_EXCEPTION", // mostly of the network
}

// Transient reports whether a retry may succeed, because the cause of err is the server, a node of its cluster or
// the network. It is false if the cause is the request.
func Transient(err error) bool {
	if stated, ok := errors.AsType[*clickhouse.Exception](err); ok {
		_, passing := transientCodes[stated.Code]
		return passing
	}
	if answer, ok := errors.AsType[*clickhouse.HTTPError](err); ok { // the reply of a proxy
		return answer.StatusCode >= http.StatusInternalServerError
	}
	if _, network := errors.AsType[net.Error](err); network {
		return true
	}
	return slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, context.DeadlineExceeded, clickhouse.ErrAcquireConnTimeout, clickhouse.ErrConnectionClosed},
		func(passing error) bool { return errors.Is(err, passing) })
}
