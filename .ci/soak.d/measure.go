package main

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver of the state store
)

// Sample has the measures at the end of a window (one simulated hour).
type Sample struct {
	Window               int
	Memory, EngineMemory float64            // resident, MB
	Files, EngineFiles   float64            // open file descriptors
	Goroutines, Threads  float64            // goroutines of the service, threads of the engine
	Data, State          float64            // size of the data directory and of the state store, MB
	Readings, Parts      float64            // rows of readings in the engine, and its active parts
	Events, Requests     float64            // events received and requests sent since the start of the run
	Rows                 map[string]float64 // rows of the state store, by table
	Took                 time.Duration
}

// Sample measures the service and its engine.
func (s *Service) Sample(ctx context.Context, state *sql.DB) (x Sample, err error) {
	metrics, err := s.get(ctx, s.internal+"/metrics")
	if err != nil {
		return x, err
	}
	for line := range strings.Lines(metrics) {
		if text, ok := strings.CutPrefix(line, "go_goroutines "); ok {
			x.Goroutines, err = strconv.ParseFloat(strings.TrimSpace(text), 64)
		}
	}
	if err != nil {
		return x, err
	}
	service := s.cmd.Process.Pid
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", service, service))
	for _, task := range dir(fmt.Sprintf("/proc/%d/task", service)) {
		more, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", service, task))
		children = append(children, more...)
	}
	if len(strings.Fields(string(children))) == 0 {
		return x, fmt.Errorf("the service has no engine: %w", err)
	}
	engine, err := strconv.Atoi(strings.Fields(string(children))[0])
	if err != nil {
		return x, err
	}
	x.Memory, x.EngineMemory = resident(service), resident(engine)
	x.Files, x.EngineFiles = float64(len(dir(fmt.Sprintf("/proc/%d/fd", service)))), float64(len(dir(fmt.Sprintf("/proc/%d/fd", engine))))
	x.Threads = float64(len(dir(fmt.Sprintf("/proc/%d/task", engine))))
	_ = filepath.WalkDir(filepath.Join(s.dir, "data"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // an error means that the engine has removed the file meanwhile
		}
		if info, err := d.Info(); err == nil {
			x.Data += float64(info.Size()) / 1e6
			if strings.HasPrefix(d.Name(), "state.db") {
				x.State += float64(info.Size()) / 1e6
			}
		}
		return nil
	})
	text, err := s.Query(ctx, "default", "SELECT sumIf(rows, table = 'reading'), count() FROM system.parts WHERE active AND database LIKE 'vayu%'")
	if err != nil {
		return x, err
	}
	if _, err := fmt.Sscan(text, &x.Readings, &x.Parts); err != nil {
		return x, err
	}
	x.Rows, err = rows(ctx, state)
	return x, err
}

func dir(path string) (names []string) {
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func resident(process int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", process))
	if fields := strings.Fields(string(text)); len(fields) > 1 {
		pages, _ := strconv.ParseFloat(fields[1], 64)
		return pages * float64(os.Getpagesize()) / 1e6
	}
	return 0
}

// rows counts the rows of every table of the state store.
func rows(ctx context.Context, state *sql.DB) (map[string]float64, error) {
	tables, err := column(ctx, state, "SELECT name FROM sqlite_master WHERE type = 'table'")
	if err != nil {
		return nil, err
	}
	all := map[string]float64{}
	for _, table := range tables {
		var n float64
		if err := state.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(&n); err != nil {
			return nil, err
		}
		all[table] = n
	}
	return all, nil
}

// column returns the rows of a query whose result is one column of text.
func column(ctx context.Context, state *sql.DB, query string) (all []string, err error) {
	found, err := state.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var text string
		if err := found.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, found.Err()
}

// Report prints the results of checks, and counts the failed checks.
type Report struct{ failed int }

// Check prints the result of a check. The check has failed if `ok` is false.
func (r *Report) Check(ok bool, name, format string, args ...any) {
	word := "ok    "
	if !ok {
		r.failed++
		word = "FAILED"
	}
	fmt.Printf("%s %-28s %s\n", word, name, fmt.Sprintf(format, args...))
}

// Flat checks that a measure does not grow in the second half of `all`. If m is the median of the third quarter, the
// median of the last quarter must be at most m + max(m × share, slack).
func (r *Report) Flat(name string, all []Sample, of func(Sample) float64, share, slack float64) {
	half := all[len(all)/2:]
	before, after := median(half[:len(half)/2], of), median(half[len(half)/2:], of)
	r.Check(after <= before+max(before*share, slack), name, "flat: %.0f, later %.0f (from window %d on; %.0f at its start; limit +%.0f)",
		before, after, half[0].Window, of(all[0]), max(before*share, slack))
}

// Linear checks growth per event or request. In the second half, it may be 1.1 × that of the first half, plus `slack`.
func (r *Report) Linear(name string, all []Sample, of func(Sample) float64, slack float64) {
	first, mid, last := all[0], all[len(all)/2], all[len(all)-1]
	before, after := of(mid)-of(first), of(last)-of(mid)
	share := max((last.Events-mid.Events)/max(mid.Events-first.Events, 1), (last.Requests-mid.Requests)/max(mid.Requests-first.Requests, 1))
	limit := max(before, 0)*share*1.1 + slack
	r.Check(after <= limit, name, "as calculated: %+.0f, later %+.0f (limit +%.0f)", before, after, limit)
}

func median(all []Sample, of func(Sample) float64) float64 {
	values := make([]float64, len(all))
	for i, x := range all {
		values[i] = of(x)
	}
	if slices.Sort(values); len(values) == 0 {
		return 0
	}
	return values[len(values)/2]
}
