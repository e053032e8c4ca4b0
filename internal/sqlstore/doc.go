// Package sqlstore opens the state store: accounts, keys, quotas, audit, and
// everything else that is a fact about clients and not about air.
//
// It is SQLite in the data directory, or PostgreSQL by DSN. Both run the same
// SQL text and keep the same promise: when [DB.Update] returns nil, what it did
// is on disk, whole; when it returns an error, nothing of it is.
//
// On SQLite one goroutine writes, and puts all changes that wait into one
// commit, so that one fsync serves many. On PostgreSQL every Update is a
// transaction of its own, READ COMMITTED: SQL that reads and then decides takes
// its lock first, by updating a row with RETURNING, which means the same on
// both engines (there is no FOR UPDATE in SQLite).
//
// SQLite in a directory belongs to one service, which says so in state.lock
// (package hold); commands work beside it. When a server goes away between
// being told to commit and answering, it, or the one that takes its place, is asked
// for the row that the change has left as a proof, so that an error means there too that
// nothing was done. Only when none is there within ten seconds it says that this is
// not known. One that hangs is waited for half a second longer than Settings.StatementTimeout,
// for a connection and for an answer each, whether or not the caller's context has an end.
//
// [DB.Dump] and [Load] carry a store to another place, and from one engine to
// the other.
package sqlstore
