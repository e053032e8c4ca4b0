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

// How it is known what became of a change whose COMMIT was not answered.
//
// Each change leaves a row of its own in commit_proof, in the message that has
// its COMMIT, so that it costs no round trip. Who has lost the answer inserts a
// row of the same id, which says that the change is undone. The server lets one
// of the two in: when that of the change is there, the change is committed; while
// the change is under way, it waits for its end; and when the asker's goes in,
// the change is not committed and never can be, even when its COMMIT is still on
// its way. Where this is asked of another server than the one that had the COMMIT,
// as after a fail-over, the answer is about the store as it is there, which is the
// one that counts from then on. And because the question writes, its answer waits
// for synchronous standbys as a COMMIT does: what was called committed is on them.
//
// The number of the transaction (pg_xact_status) would cost less, and can not be
// trusted. A server gives numbers again whose WAL it has lost: a standby after its
// promotion, and the very same server after a crash, on the same timeline and
// with the same system identifier. The status is then that of somebody else's
// transaction.
const (
	// proofVersion is the first version of the tables that has commit_proof. Load
	// fills older ones.
	proofVersion = 7

	// microsecondsOnServer is now, and not the beginning of the transaction.
	microsecondsOnServer = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

	// leaveProof leaves none of a change that has changed nothing: its COMMIT
	// writes nothing then. The id is put in as text, in the simple protocol.
	leaveProof = "INSERT INTO commit_proof (id, at, undone) SELECT '%s', " + microsecondsOnServer + ", 0 WHERE pg_current_xact_id_if_assigned() IS NOT NULL; "

	askProof = "INSERT INTO commit_proof AS c (id, at, undone) VALUES ($1, " + microsecondsOnServer + ", 1) " +
		"ON CONFLICT (id) DO UPDATE SET undone = c.undone RETURNING undone"

	// sweepProofs deletes the next old ones after an id, and says what the last of them was.
	sweepProofs = "WITH old AS (SELECT id FROM commit_proof WHERE id > $1 AND at < " + microsecondsOnServer + " - $2 ORDER BY id LIMIT $3), " +
		"gone AS (DELETE FROM commit_proof USING old WHERE commit_proof.id = old.id) SELECT coalesce(max(id), '') FROM old"

	// outcomePatience is how long servers are asked what became of a change: as long
	// as a client waits.
	outcomePatience = 10 * time.Second
	outcomePause    = 100 * time.Millisecond

	// sweepPause is between two deletions of old proofs, and sweepGroup how many go at
	// once: in a time that is far from the end of a statement.
	sweepPause = time.Minute
	sweepGroup = 1000
	// clocksApart is how much the clocks of two servers may differ without a
	// proof being deleted while somebody may still ask for it.
	clocksApart = 5 * time.Minute
)

// proves is whether changes leave a proof.
func (p *postgres) proves() bool { return p.db.version == 0 || p.db.version >= proofVersion }

// commit ends a transaction, and returns by which id it can be asked for.
func (p *postgres) commit(ctx context.Context, conn *sql.Conn) (id string, tag pgconn.CommandTag, err error) {
	text := "COMMIT"
	if p.proves() {
		id = ulid.Make().String()
		text = fmt.Sprintf(leaveProof, id) + text
	}
	tag, err = simple(ctx, conn, text)
	return id, tag, err
}

// outcome asks what became of a change whose COMMIT was not answered: nil when it
// is committed, cause when it is not, and errUnknown when nobody could be asked.
func (p *postgres) outcome(ctx context.Context, id string, cause error) error {
	unknown := fmt.Errorf("%w: %w", errUnknown, cause)
	if id == "" {
		return unknown
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.db.asking)
	defer cancel()
	for {
		var undone int
		err := p.pool.QueryRowContext(limit, askProof, id).Scan(&undone)
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

// sweep deletes the proofs that nobody can ask for any more, group after group in the
// order of their ids, so that what has been looked at is not looked at again.
func (p *postgres) sweep(ctx context.Context, age time.Duration) {
	for last, more := "", true; more; more = last != "" {
		err := p.db.View(ctx).QueryRow(sweepProofs, last, age.Microseconds(), sweepGroup).Scan(&last)
		if err != nil && ctx.Err() == nil {
			p.db.metrics.unswept.Inc()
			p.db.log.WarnContext(ctx, "old rows of commit_proof were not deleted; that is tried again", "error", err)
		}
		if err != nil {
			return
		}
	}
}

// keepSwept sweeps until ctx ends.
func (p *postgres) keepSwept(ctx context.Context) {
	for sleep.For(ctx, sweepPause) {
		// A COMMIT may be waited for, and then asked for.
		p.sweep(ctx, p.db.patience+p.db.asking+clocksApart)
	}
}
