//go:build integration

package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"vayu/internal/realdata"
)

// before2020 sums up what was imported before the backup; the import beside it is
// of 2021.
const before2020 = `SELECT (SELECT tuple(count(), sum(cityHash64(tuple(*)))) FROM vayu.reading FINAL WHERE at < '2020-01-01'),
	(SELECT tuple(count(), sum(cityHash64(toString(tuple(* EXCEPT computed_at))))) FROM vayu.station_hour FINAL WHERE at < '2020-01-01'),
	(SELECT tuple(count(), sum(cityHash64(toString(tuple(* EXCEPT computed_at))))) FROM vayu.city_hour FINAL WHERE at < '2020-01-01'),
	(SELECT tuple(count(), sum(cityHash64(toString(tuple(* EXCEPT computed_at))))) FROM vayu.city_day FINAL WHERE day < '2020-01-01')`

func TestIntegrationBackupOfABusyServiceComesBack(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := serve(t, data)
	if out, err := vayu(t, data, "import", realdata.Path(t, "cpcb/city_day.csv")); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := s.sql(before2020)
	question := aqi("Delhi", "date", "2018-11-05")
	answer := s.eventually(s.live, question, ok)

	beside := exec.Command(binary(t), "import", "--data", data, "--engine-port", "0", madeFile(t, 12))
	if err := beside.Start(); err != nil {
		t.Fatal(err)
	}
	importing := make(chan struct{})
	go func() {
		defer close(importing)
		_ = beside.Wait()
	}()
	if !progressed(t, data, 0, importing) {
		t.Error("the import ended before the backup began")
	}
	backup := filepath.Join(t.TempDir(), "backup")
	out, err := vayu(t, data, "backup", backup)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(out, "encryption.key") {
		t.Errorf("the backup does not say that it holds the key:\n%s", out)
	}
	if info, err := os.Stat(filepath.Join(backup, "encryption.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key of the backup: %v, %v", info, err)
	}
	<-importing
	if out, err := vayu(t, data, "backup", backup); err == nil || !strings.Contains(out, "not empty") {
		t.Errorf("a backup over another: %v\n%s", err, out)
	}
	if out, err := vayu(t, data, "restore", backup); err == nil || !strings.Contains(out, "not empty") {
		t.Errorf("a restore over a running service: %v\n%s", err, out)
	}
	s.stop(syscall.SIGTERM)

	restored := filepath.Join(t.TempDir(), "restored")
	if out, err := vayu(t, restored, "restore", backup); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	again := serve(t, restored)
	if got := again.sql(before2020); got != want {
		t.Errorf("restored:\n%s\nbacked up:\n%s", got, want)
	}
	if r := again.eventually(s.live, question, ok); r.raw != answer.raw {
		t.Errorf("the key of before gets\n%s\nwant\n%s", r.raw, answer.raw)
	}
	if r := again.get("sk_live_nobody", question); r.status != http.StatusUnauthorized {
		t.Errorf("a key of nobody gets %d", r.status)
	}
	// What the backup has of the import has figures, from the import or from the
	// first roll-up after the restore.
	const missing = `SELECT count() FROM (SELECT DISTINCT station, at FROM vayu.reading WHERE at >= '2021-01-01') AS r
		LEFT ANTI JOIN vayu.station_hour AS h ON h.station = r.station AND h.at >= r.at AND h.at < r.at + 3600`
	if out, err := vayu(t, restored, "import", realdata.Path(t, "openaq/openaq_v1_sample_pollucheck.csv")); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := again.sql(missing); !strings.HasSuffix(got, "\n0") {
		t.Errorf("hours of the import without figures: %s", got)
	}
}

func TestIntegrationDamagedBackupLeavesNothing(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if out, err := vayu(t, data, "import", madeFile(t, 1)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	backup := filepath.Join(t.TempDir(), "backup")
	if out, err := vayu(t, data, "backup", backup); err != nil { // without a service
		t.Fatalf("%v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(backup, "clickhouse", "vayu", "reading", "*"))
	if err != nil || len(files) < 12 {
		t.Fatalf("the backup has %q, %v", files, err)
	}
	if err := os.Truncate(files[3], 100); err != nil {
		t.Fatal(err)
	}
	restored := filepath.Join(t.TempDir(), "restored")
	if out, err := vayu(t, restored, "restore", backup); err == nil || !strings.Contains(out, filepath.Base(files[3])) {
		t.Errorf("a damaged backup: %v\n%s", err, out)
	}
	if left, err := os.ReadDir(restored); err != nil || len(left) > 0 {
		t.Errorf("the restore that failed left %v, %v", left, err)
	}
	if err := os.Remove(filepath.Join(backup, "backup.json")); err != nil {
		t.Fatal(err)
	}
	if out, err := vayu(t, restored, "restore", backup); err == nil || !strings.Contains(out, "no whole backup") {
		t.Errorf("half a backup: %v\n%s", err, out)
	}
}
