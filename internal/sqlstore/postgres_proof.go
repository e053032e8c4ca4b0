package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/oklog/ulid/v2"

	"vayu/internal/sleep"
)

// How a client finds the outcome of a change whose COMMIT was not answered.
//
// Each change that writes inserts a row with the id of the change into table commit_proof. The INSERT is in the
// same message as the COMMIT, so that it costs no round trip. If the reply is lost, the client inserts a row
// with the same id that marks the change as undone. The unique key admits one of the two rows. If the change's
// row exists, the change is committed. While the change is in progress, the client's INSERT waits for its end.
// If the client's row is inserted, the change is not committed and never can be, even if its COMMIT arrives
// later. After a failover another server answers for its own copy of the store, which is valid from then on.
// The client's INSERT waits for synchronous standbys, as a COMMIT does. So a change reported as committed is on
// the standbys too.
//
// pg_xact_status would cost less, but is not reliable. A server reuses transaction ids whose WAL it lost, so
// the status may be that of another transaction. That happens on a promoted standby, and on the same server
// after a crash. The client cannot detect a crash: the timeline and the system identifier stay the same.
const (
	// proofVersion is the first version of the tables that has commit_proof. Older dumps can be loaded too.
	proofVersion = 7

	// microsecondsOnServer is the server's clock. now() would return the start of the transaction.
	microsecondsOnServer = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

	// insertProof inserts the row of a change. It inserts nothing for a change without writes, so that its
	// COMMIT need not write. The id is part of the text, because the simple protocol has no parameters.
	insertProof = "INSERT INTO commit_proof (id, at, undone) SELECT '%s', " + microsecondsOnServer + ", 0 WHERE pg_current_xact_id_if_assigned() IS NOT NULL; "

	// resolveProof inserts a row with undone = 1, unless a row with the id exists. It returns the field undone.
	resolveProof = "INSERT INTO commit_proof AS c (id, at, undone) VALUES ($1, " + microsecondsOnServer + ", 1) " +
		"ON CONFLICT (id) DO UPDATE SET undone = c.undone RETURNING undone"

	// sweepProofs deletes the next expired rows after the id $1. The result is the last deleted id, or "".
	sweepProofs = "WITH old AS (SELECT id FROM commit_proof WHERE id > $1 AND at < " + microsecondsOnServer + " - $2 ORDER BY id LIMIT $3), " +
		"gone AS (DELETE FROM commit_proof USING old WHERE commit_proof.id = old.id) SELECT coalesce(max(id), '') FROM old"

	// outcomeTimeout limits the search for the outcome of a change. No client waits longer.
	outcomeTimeout = 10 * time.Second
	outcomePause   = 100 * time.Millisecond

	// sweepPause is the pause between two sweeps of commit_proof.
	sweepPause = time.Minute
	// sweepGroup is how many rows one statement deletes. The statement takes far less time than its timeout.
	sweepGroup = 1000
	// clockSkew is the largest difference of two servers' clocks at which no row is deleted too early.
	clockSkew = 5 * time.Minute
)

// usesProof reports whether the version of the tables includes commit_proof.
func (p *postgres) usesProof() bool { return p.db.cfg.Version == 0 || p.db.cfg.Version >= proofVersion }

// commit commits a transaction. id identifies its row in commit_proof; empty without that table.
func (p *postgres) commit(ctx context.Context, conn *sql.Conn) (id string, tag pgconn.CommandTag, err error) {
	text := "COMMIT"
	if p.usesProof() {
		id = ulid.Make().String()
		text = fmt.Sprintf(insertProof, id) + text
	}
	tag, err = simple(ctx, conn, text)
	return id, tag, err
}

// outcome finds the outcome of a change whose COMMIT was not answered. It returns nil if the change is
// committed, cause if it is not, and errUnknown if no server answered or id is empty.
func (p *postgres) outcome(ctx context.Context, id string, cause error) error {
	unknown := fmt.Errorf("%w: %w", errUnknown, cause)
	if id == "" {
		return unknown
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.db.outcomeTimeout)
	defer cancel()
	for {
		var undone int
		err := p.pool.QueryRowContext(limit, resolveProof, id).Scan(&undone)
		switch {
		case err == nil && undone == 0:
			return nil
		case err == nil:
			return cause
		}
		if !sleep.For(limit, outcomePause) {
			return unknown
		}
	}
}

// sweep deletes rows of commit_proof that are older than age. It deletes them in groups in the order of their
// ids, so that no row is scanned twice.
func (p *postgres) sweep(ctx context.Context, age time.Duration) {
	for last, more := "", true; more; more = last != "" {
		err := p.db.View(ctx).QueryRow(sweepProofs, last, age.Microseconds(), sweepGroup).Scan(&last)
		if err != nil && ctx.Err() == nil {
			p.db.metrics.sweepFailures.Inc()
			p.db.log.WarnContext(ctx, "deleting old rows of commit_proof failed; retrying later", "error", err)
		}
		if err != nil {
			return
		}
	}
}

// keepSwept calls sweep every minute until ctx ends.
func (p *postgres) keepSwept(ctx context.Context) {
	for sleep.For(ctx, sweepPause) {
		// A row is needed while its change waits for COMMIT, and then while outcome searches for the row.
		p.sweep(ctx, p.db.changeTimeout+p.db.outcomeTimeout+clockSkew)
	}
}
