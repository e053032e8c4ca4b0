package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// prove checks the requests, deliveries, simulated hours and quota, a restored backup, and trends of resource usage.
func (s *Soak) prove(ctx context.Context) error {
	fmt.Println()
	for _, f := range s.load.flows {
		sent, repeated, failed, example := f.Counts()
		p50, p99 := f.Percentiles()
		s.Check(failed == 0 && sent > 0, f.Name, "%d requests, %d answered after a retry, %d failed, median %s, 99 %% in %s %s", sent, repeated, failed, p50.Round(10*time.Microsecond), p99.Round(100*time.Microsecond), example)
	}
	// Wait until nothing is pending.
	if err := eventually(ctx, 2*time.Minute, func() error {
		var n int
		err := s.state.QueryRow(`SELECT (SELECT count(*) FROM recharge WHERE state = 'pending' OR state = 'success' AND refund_id <> '')
			+ (SELECT count(*) FROM verification WHERE state = 'pending') + (SELECT count(*) FROM outbox) + (SELECT count(*) FROM delivery WHERE state = 'waiting')`).Scan(&n)
		if err == nil && n > 0 {
			err = fmt.Errorf("%d recharges, verifications, events and deliveries are not final", n)
		}
		return err
	}); err != nil {
		s.Check(false, "final states", "%v", err)
	}
	if err := errors.Join(s.proveDeliveries(ctx), s.proveWindows(ctx), s.proveCopies(ctx)); err != nil {
		return err
	}
	before, after := s.quota[http.StatusTooManyRequests], s.quota[-http.StatusOK]
	if changed := s.clock.Now().After(s.month); changed || after > 0 {
		s.Check(before > 0 && after > 0 && len(s.quota) == 2, "quota", "%d calls refused before the month changed, %d accepted after it", before, after)
	} else {
		s.Check(before > 0 && len(s.quota) == 1, "quota", "%d calls refused; the month has not changed", before)
	}
	s.Check(s.stale == 0, "fresh in every window", "%d of %d windows were late by more than two minutes", s.stale, s.hours)

	all := s.samples[s.upgraded:]
	if len(all) < 24 {
		fmt.Println("the run is too short for trends")
		return nil
	}
	s.Flat("memory of the service, MB", all, func(x Sample) float64 { return x.Memory }, 0.1, 20)
	s.Flat("memory of the engine, MB", all, func(x Sample) float64 { return x.EngineMemory }, 0.1, 50)
	s.Flat("files of the service", all, func(x Sample) float64 { return x.Files }, 0.1, 5)
	s.Flat("files of the engine", all, func(x Sample) float64 { return x.EngineFiles }, 0.1, 20)
	s.Flat("goroutines", all, func(x Sample) float64 { return x.Goroutines }, 0.1, 10)
	s.Flat("threads of the engine", all, func(x Sample) float64 { return x.Threads }, 0.1, 10)
	s.Flat("parts of the engine", all, func(x Sample) float64 { return x.Parts }, 0.1, 30)
	s.Linear("data directory, MB", all, func(x Sample) float64 { return x.Data }, 50)
	s.Linear("state store, MB", all, func(x Sample) float64 { return x.State }, 10)
	s.Linear("rows of readings", all, func(x Sample) float64 { return x.Readings }, 1000)
	for _, table := range slices.Sorted(maps.Keys(all[0].Rows)) {
		if last := all[len(all)-1].Rows[table]; last >= 100 {
			s.Linear("rows of "+table, all, func(x Sample) float64 { return x.Rows[table] }, 50)
		}
	}
	return nil
}

func (s *Soak) proveDeliveries(ctx context.Context) error {
	var ids []string
	var received, repeated, invalid, lost int
	err := eventually(ctx, 2*time.Minute, func() (err error) { // the last events may be on their way
		ids, err = column(ctx, s.state, `SELECT e.id FROM event e JOIN webhook w ON w.account_id = e.account_id AND w.mode = e.mode
			AND w.events LIKE '%' || e.type || '%' WHERE e.created_at >= w.created_at`)
		if err != nil {
			return err
		}
		received, repeated, invalid = s.inbox.Counts()
		lost = 0
		for _, id := range ids {
			if !s.inbox.Received(id) {
				lost++
			}
		}
		if lost > 0 || received != len(ids) {
			return fmt.Errorf("%d events, %d received, %d lost", len(ids), received, lost)
		}
		return nil
	})
	states, err2 := column(ctx, s.state, "SELECT state || ' ' || count(*) FROM delivery GROUP BY state")
	if err2 != nil {
		return err2
	}
	s.Check(err == nil && received >= s.fired, "events delivered", "%d events, %d received, %d lost, %d repeated; deliveries: %s %v",
		len(ids), received, lost, repeated, strings.Join(states, ", "), err)
	s.Check(invalid == 0, "signatures", "%d of %d deliveries were not valid", invalid, received+repeated)
	return nil
}

func (s *Soak) proveWindows(ctx context.Context) error {
	hour := s.clock.Now().Add(-30 * time.Minute).Truncate(time.Hour).Add(30 * time.Minute)
	text, err := s.Query(ctx, "analyst", fmt.Sprintf(`SELECT countIf(n = 0 OR n != stations), count(), min(n), max(n), toString(min(at)) FROM
		(SELECT at, count() AS n, uniqExact(station) AS stations FROM station_hour WHERE at > toDateTime(%d) AND at <= toDateTime(%d) AND NOT startsWith(station, 'own') GROUP BY at)`,
		hour.Add(-time.Duration(s.hours)*time.Hour).Unix(), hour.Unix()))
	if err != nil {
		return err
	}
	var wrong, windows, least, most int
	if _, err := fmt.Sscan(text, &wrong, &windows, &least, &most); err != nil {
		return err
	}
	s.Check(wrong == 0 && windows == s.hours && least >= most*97/100, "windows", "%d of %d have hours, %d with hours twice, of %d to %d stations", windows, s.hours, wrong, least, most)
	oldest, err := s.Query(ctx, "analyst", "SELECT min(at) FROM reading")
	if err != nil {
		return err
	}
	at, err := time.Parse("2006-01-02 15:04:05", strings.TrimSpace(oldest)[:19])
	s.Check(err == nil && s.clock.Now().Sub(at) < (168+26)*time.Hour, "retention", "the oldest reading is %.0f h old; 168 h are kept; the run began with 72 h", s.clock.Now().Sub(at).Hours())
	return nil
}

// proveCopies makes a last backup, restores it into another folder, and compares the restored data with the service's.
func (s *Soak) proveCopies(ctx context.Context) error {
	to := filepath.Join(s.dir, "backup-last")
	if _, err := s.Vayu(ctx, nil, "backup", to); err != nil {
		return err
	}
	if _, err := s.Vayu(ctx, []string{"VAYU_DATA=restored"}, "restore", to, "--key", "data/encryption.key"); err != nil {
		return err
	}
	// Compare only the last 191 hours. Rows are kept for 192 h, and may stay longer until ClickHouse merges parts.
	hours := fmt.Sprintf("SELECT count(), sum(cityHash64(station, at, aqi)) FROM station_hour WHERE at > toDateTime(%d)", s.clock.Now().Add(-191*time.Hour).Unix())
	for data, variables := range map[string][]string{"the service": nil, "the restored copy": {"VAYU_DATA=restored"}} {
		for name, args := range map[string][]string{"ledger of ": {"ledger", "verify"}, "audit log of ": {"audit", "verify"}} {
			out, err := s.Vayu(ctx, variables, args...)
			lines := strings.Split(out, "\n")
			s.Check(err == nil, name+data, "%s %v", lines[len(lines)-1], err)
		}
	}
	was, err := s.Vayu(ctx, nil, "sql", "--mode", "sandbox", "--format", "csv", hours)
	is, err2 := s.Vayu(ctx, []string{"VAYU_DATA=restored"}, "sql", "--mode", "sandbox", "--format", "csv", hours)
	s.Check(err == nil && err2 == nil && was == is, "restored air", "%s; the service has %s", last(is), last(was))
	restored, err := sql.Open("sqlite", "file:"+filepath.Join(s.dir, "restored/state.db")+"?mode=ro")
	if err != nil {
		return err
	}
	defer restored.Close()
	for _, query := range []string{"SELECT count(*) || ' ' || max(id) FROM event", "SELECT count(*) || ' ' || sum(amount) FROM posting", "SELECT count(*) || ' ' || max(id) FROM delivery", "SELECT sum(available) || ' ' || sum(held) FROM wallet"} {
		was, err := column(ctx, s.state, query)
		is, err2 := column(ctx, restored, query)
		s.Check(err == nil && err2 == nil && slices.Equal(was, is), "restored state", "%v; the service has %v %v", is, was, errors.Join(err, err2))
	}
	return nil
}

func last(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }
