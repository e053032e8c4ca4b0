// Package ops has the commands about data and operation, such as import, sql and doctor.
package ops

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/status"
	"vayu/cmd/vayu/tool"
	"vayu/internal/access/account"
	"vayu/internal/columnstore/embedded"
	"vayu/query/aggregate"
	"vayu/schema"
)

type finding struct {
	ok    bool
	topic string
	text  string
}

// minFreeDisk is the number of free bytes below which `vayu doctor` reports a fault. ClickHouse needs free space to
// merge its largest parts, which reach a few gigabytes after years of readings.
const minFreeDisk = 2 << 30

// doctorTimeout limits the time to connect to ClickHouse. The limit for all queries together is twice doctorTimeout.
const doctorTimeout = 5 * time.Second

// NewDoctor returns the command `vayu doctor`.
func NewDoctor() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the engine, the state store, the disk and the age of the data",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			healthy := true
			add := func(f finding) { healthy = printFinding(cmd.OutOrStdout(), f) && healthy }
			add(finding{true, "version", settings.Version()})
			err := tool.Options{Timeout: doctorTimeout}.Run(cmd, func(ctx context.Context, t *tool.Database) error {
				ctx, cancel := context.WithTimeout(ctx, 2*doctorTimeout)
				defer cancel()
				add(engineFinding(ctx, t))
				if t.DB.Embedded() {
					add(finding{true, "fence", embedded.Fence(t.Engine.File)})
					if err := t.DB.CheckParts(ctx); err != nil {
						add(finding{false, "parts", err.Error()})
					}
				}
				add(disk(t.Data))
				for _, w := range schema.Worlds {
					add(freshness(ctx, t, w))
				}
				return nil
			})
			if err != nil {
				add(finding{false, "engine", err.Error()})
			}
			if err := tool.WithState(cmd, func(ctx context.Context, st *tool.State) error {
				add(storeFinding(ctx, st))
				return nil
			}); err != nil {
				add(finding{false, "state", err.Error()})
			}
			loaded, _, err := settings.Load(cmd)
			if err != nil {
				return err
			}
			for _, f := range checkService(cmd.Context(), loaded.Value) {
				add(f)
			}
			if !healthy {
				return tool.ErrReported
			}
			return nil
		},
	}
	settings.Bind(cmd.Flags(), "listen")
	return cmd
}

func printFinding(w io.Writer, f finding) bool {
	mark := "ok  "
	if !f.ok {
		mark = "FAIL"
	}
	_, _ = fmt.Fprintf(w, "%s  %-12s %s\n", mark, f.topic, f.text)
	return f.ok
}

func engineFinding(ctx context.Context, t *tool.Database) finding {
	version, err := t.DB.Version(ctx)
	switch holder, held := t.DB.Holder(); {
	case err != nil:
		return finding{false, "engine", err.Error()}
	case !t.DB.Embedded():
		return finding{true, "engine", fmt.Sprintf("ClickHouse %s at %s", version, t.ClickHouse)}
	case held:
		return finding{true, "engine", fmt.Sprintf("embedded ClickHouse %s in %s, process %d", version, t.Data, holder.PID)}
	default:
		return finding{true, "engine", fmt.Sprintf("embedded ClickHouse %s in %s", version, t.Data)}
	}
}

// storeFinding checks that the state store can be read. The finding names the store's engine and place.
func storeFinding(ctx context.Context, st *tool.State) finding {
	where := st.Data
	if st.State != "" {
		where = st.State.String()
	}
	all, err := account.List(st.DB.View(ctx))
	if err != nil {
		return finding{false, "state", err.Error()}
	}
	return finding{true, "state", fmt.Sprintf("%s in %s, %d accounts", st.DB.Name(), where, len(all))}
}

func disk(dir string) finding {
	free, size := status.DiskSpace(dir)
	if size == 0 {
		return finding{false, "disk", "the free space of " + dir + " is unknown"}
	}
	return finding{free >= minFreeDisk, "disk", fmt.Sprintf("%.1f GB free in %s", free/1e9, dir)}
}

// freshness reports the age of a world's newest city index. An index that is too old is a fault; a missing one is not.
func freshness(ctx context.Context, t *tool.Database, w schema.World) finding {
	var (
		readings, cities uint64
		latest           time.Time
	)
	statement := fmt.Sprintf("SELECT (SELECT count() FROM %[1]s.reading), uniqExact(city, state), max(updated) FROM %[1]s.city_hour", w.Database())
	if err := t.DB.Conn().QueryRow(ctx, statement).Scan(&readings, &cities, &latest); err != nil {
		return finding{false, w.String(), err.Error()}
	}
	if cities == 0 {
		return finding{true, w.String(), fmt.Sprintf("%d readings, no figures yet", readings)}
	}
	age := time.Since(latest)
	text := fmt.Sprintf("%d readings, %d cities, latest %s (%s ago)",
		readings, cities, latest.UTC().Format(time.RFC3339), age.Round(time.Minute))
	if age > aggregate.StaleAfter {
		text += "; is vayu serve running, and do its sources answer? try vayu source test NAME"
	}
	return finding{age <= aggregate.StaleAfter, w.String(), text}
}
