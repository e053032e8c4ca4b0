package collect

import (
	"context"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"vayu/ingest/backfill"
	"vayu/ingest/progress"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// BackfillCommand starts, cancels or shows the backfill of a source for an operator.
type BackfillCommand struct {
	// Wanted describes the backfill to start: source, window, partitions and parallelism. If the window has no start,
	// the command starts no backfill, and shows or cancels the last one of the source.
	Wanted backfill.Job
	Cancel bool // end the running backfill of the source, and start none
	Detach bool // do not follow the backfill
	// Data is the data directory. Local has the meaning of [Config.Local].
	Data, Local string
	// Collect works on backfills until the function `follow` returns. The command calls Collect if no service is
	// running that would do the work.
	Collect func(follow func(context.Context) error) error
}

// Run starts, continues or cancels a backfill. Unless c.Detach is set, it follows a running backfill to its end. It
// writes the progress to stderr and the last state to `out`, and returns the backfill.
func (c *BackfillCommand) Run(ctx context.Context, db *sqlstore.DB, w schema.World, out io.Writer) (last backfill.Job, err error) {
	store := backfill.New(db, progress.Scope(w, c.Local), time.Now)
	if c.Cancel {
		err = store.Cancel(ctx, c.Wanted.Source)
	} else if !c.Wanted.Window.From.IsZero() {
		_, err = store.Start(ctx, c.Wanted)
	}
	if err != nil {
		return last, err
	}
	last, err = store.Find(ctx, c.Wanted.Source)
	if err == nil && last.State == backfill.Running && !c.Detach {
		last, err = c.follow(ctx, db, store)
	}
	if err != nil {
		return last, err
	}
	err = last.Write(out, time.Now())
	return last, err
}

// follow prints the progress of the backfill until it ends. If no service is running, follow also does the work.
func (c *BackfillCommand) follow(ctx context.Context, db *sqlstore.DB, store *backfill.Store) (last backfill.Job, err error) {
	follow := func(ctx context.Context) (err error) {
		last, err = store.Follow(ctx, c.Wanted.Source, os.Stderr, term.IsTerminal(int(os.Stderr.Fd())))
		return err
	}
	served, err := Served(ctx, db, c.Data, c.Local)
	if err != nil {
		return last, err
	}
	if served {
		err = follow(ctx)
	} else {
		err = c.Collect(follow)
	}
	return last, err
}
