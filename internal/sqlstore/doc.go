// Package sqlstore opens the state store. The store holds accounts, keys, quotas, the audit log and everything else
// about clients, but no air quality data.
//
// The store is SQLite in the data directory, or PostgreSQL by DSN. Both engines run the same SQL text and give the same
// guarantee. When [DB.Update] returns nil, the change is durable. When it returns an error, the change is rolled back,
// unless the error states that the outcome is unknown.
//
// On SQLite one goroutine writes. It commits queued changes in groups, so that one fsync serves several changes. On
// PostgreSQL each Update is a READ COMMITTED transaction, which waiting changes of a group share (see [WithGroup]). A
// change that reads a row before it writes must lock the row first, by an UPDATE with RETURNING. SQLite has no FOR
// UPDATE.
//
// A SQLite directory belongs to one service, which locks state.lock (package filelock). Other vayu commands can use the
// store at the same time.
//
// If a PostgreSQL server disconnects before it answers COMMIT, the outcome is unknown, and the error states that. A
// caller must be able to repeat such a change: by a unique key, a compare-and-set, or the token of a lease. The store
// waits for a connection, and for the result of a query, at most half a second longer than Settings.StatementTimeout.
//
// Package dump moves a store to another place, or to the other engine.
package sqlstore
