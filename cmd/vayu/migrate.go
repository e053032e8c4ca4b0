package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"vayu/ingest"
	"vayu/internal/columnstore"
	"vayu/internal/sleep"
	"vayu/schema"
	"vayu/schema/migrations/clickhouse"
)

// Who changes the tables of ClickHouse: an instance with the role ingest, `vayu
// migrate`, `vayu restore`, and whoever has started the embedded engine, which nobody
// else has then. All others look, so that neither a newer command nor a setting that
// is missing on one machine changes what everybody uses.

// migrate brings the databases of both worlds up to date.
func migrate(ctx context.Context, db *columnstore.DB) error {
	for _, world := range worlds(db) {
		if err := columnstore.Migrate(ctx, db, clickhouse.Files, world); err != nil {
			return err
		}
	}
	for _, world := range schema.Worlds {
		if err := ingest.WriteCatalogue(ctx, db.Conn(), world.Database()); err != nil {
			return err
		}
	}
	return store(ctx, db)
}

// store has the rows of both worlds kept where, and for as long as, the settings say.
func store(ctx context.Context, db *columnstore.DB) error {
	for _, world := range worlds(db) {
		if err := db.Store(ctx, world); err != nil {
			return err
		}
	}
	return nil
}

// lookPatience bounds a look: a cluster takes some seconds to find out that a node is
// away.
const lookPatience = 15 * time.Second

// look fails when the databases of both worlds are not as this program needs them.
func look(ctx context.Context, db *columnstore.DB) error {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	for _, world := range worlds(db) {
		err := columnstore.Look(ctx, db, clickhouse.Files, world)
		if isBehind(err) {
			return fmt.Errorf("%w: start an instance with the role ingest, or run \"vayu migrate\"", err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isBehind reports whether somebody has to migrate first.
func isBehind(err error) bool {
	_, behind := errors.AsType[*columnstore.BehindError](err)
	return behind
}

const (
	// tablesPause is the time between two looks of an instance.
	tablesPause = 2 * time.Second
	// awayPause is the time between two lines of the log about a server or a node that is away.
	awayPause = time.Minute
	// besidePatience is how long a command waits for the service whose engine it uses to make the tables at its start.
	besidePatience = 10 * time.Second
	besidePause    = 200 * time.Millisecond
)

// awaitTables waits until the tables are as this program needs them. Who may change
// them brings them there. A server or a node that is away is waited for as well, with
// the reason in the log; what no waiting would cure is an error.
func awaitTables(ctx context.Context, db *columnstore.DB, change bool, log *slog.Logger) error {
	w := waiting{log: log}
	for {
		err := db.Ready(ctx)
		if err != nil {
			return cmp.Or(ctx.Err(), err)
		}
		if change || db.Own() {
			err = migrate(ctx, db)
		} else {
			err = look(ctx, db)
		}
		switch {
		case err == nil:
			w.over(ctx)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !isBehind(err) && !columnstore.Passing(err) && answers(ctx, db):
			return err
		}
		w.say(ctx, err)
		sleep.For(ctx, tablesPause)
	}
}

// waiting tells why an instance waits: once what others have to do, and now and then
// what is away, because the reasons differ in words from one try to the next.
type waiting struct {
	log    *slog.Logger
	at     time.Time // of the last line; zero before the first
	behind bool      // what that said
}

func (w *waiting) say(ctx context.Context, err error) {
	behind := isBehind(err)
	if !w.at.IsZero() && behind == w.behind && (behind || time.Since(w.at) < awayPause) {
		return
	}
	w.behind, w.at = behind, time.Now()
	w.log.WarnContext(ctx, "waiting for the tables of ClickHouse", "error", err)
}

// over tells that what was waited for is there.
func (w *waiting) over(ctx context.Context) {
	if !w.at.IsZero() {
		w.log.InfoContext(ctx, "the tables of ClickHouse are there")
	}
}

// answers reports whether ClickHouse is there at all.
func answers(ctx context.Context, db *columnstore.DB) bool {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	return db.Conn().Ping(ctx) == nil
}

// tables makes sure that the tables are as this program needs them. With change, or
// on an engine of its own, the command brings them there.
func (t *tool) tables(ctx context.Context, change bool) error {
	if change || t.db.Own() {
		return migrate(ctx, t.db)
	}
	err := look(ctx, t.db)
	for began := time.Now(); t.db.Embedded() && isBehind(err) && time.Since(began) < besidePatience && sleep.For(ctx, besidePause); {
		err = look(ctx, t.db)
	}
	return err
}

func newMigrate() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring the tables of ClickHouse up to date (an instance with the role ingest does it too)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return toolRun{create: true, migrate: true}.run(cmd, func(ctx context.Context, t *tool) error {
				for _, w := range schema.Worlds {
					var version uint32
					query := fmt.Sprintf("SELECT max(version) FROM %s.migration", w.Database())
					if err := t.db.Conn().QueryRow(ctx, query).Scan(&version); err != nil {
						return fmt.Errorf("reading the version of %s: %w", w.Database(), err)
					}
					_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s is at version %d\n", w.Database(), version)
				}
				return nil
			})
		},
	}
}
