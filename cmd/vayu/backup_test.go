//go:build integration

package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"filippo.io/age"

	"vayu/internal/testing/realdata"
)

// before2020 is a digest of the data imported before the backup; the concurrent import
// has data of 2021.
const before2020 = `SELECT (SELECT tuple(count(), sum(cityHash64(tuple(*)))) FROM vayu.reading FINAL WHERE at < '2020-01-01'),
	(SELECT tuple(count(), sum(cityHash64(toString(tuple(* EXCEPT computed_at))))) FROM vayu.station_hour FINAL WHERE at < '2020-01-01'),
	(SELECT tuple(count(), sum(cityHash64(toString(tuple(* EXCEPT computed_at))))) FROM vayu.city_hour FINAL WHERE at < '2020-01-01'),
	(SELECT tuple(count(), sum(cityHash64(toString(tuple(* EXCEPT computed_at))))) FROM vayu.city_day FINAL WHERE day < '2020-01-01')`

func TestIntegrationBackupOfBusyServiceIsRestored(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := serve(t, data)
	if out, err := vayu(t, data, "import", realdata.Path(t, "cpcb/city_day.csv")); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := s.sql(before2020)
	question := aqi("Delhi", "date", "2018-11-05")
	answer := s.eventually(s.live, question, ok)

	beside := exec.Command(binary(t), "import", "--data", data, "--engine-port", "0", writeReadings(t, 12))
	if err := beside.Start(); err != nil {
		t.Fatal(err)
	}
	importing := make(chan struct{})
	go func() {
		defer close(importing)
		_ = beside.Wait()
	}()
	if !awaitProgress(t, data, 0, importing) {
		t.Error("the import ended before the backup began")
	}
	backup := filepath.Join(t.TempDir(), "backup")
	identity, recipient := ageKey(t)
	out, err := vayu(t, data, "backup", backup, "--recipient", recipient)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(out, "encryption.key.age") {
		t.Errorf("the backup does not say that it holds the key:\n%s", out)
	}
	onlyEncrypted(t, backup)
	if _, err := os.Stat(filepath.Join(data, "backup.staging")); err == nil {
		t.Error("the unencrypted backup is left in the data directory")
	}
	<-importing
	if out, err := vayu(t, data, "backup", backup); err == nil || !strings.Contains(out, "not empty") {
		t.Errorf("a backup over another: %v\n%s", err, out)
	}
	if out, err := vayu(t, data, "restore", backup, "--identity", identity); err == nil || !strings.Contains(out, "not empty") {
		t.Errorf("a restore over a running service: %v\n%s", err, out)
	}
	s.stop(syscall.SIGTERM)

	restored := filepath.Join(t.TempDir(), "restored")
	if out, err := vayu(t, restored, "restore", backup); err == nil || !strings.Contains(out, "--identity") {
		t.Errorf("a restore without the private key: %v\n%s", err, out)
	}
	stranger, _ := ageKey(t)
	if out, err := vayu(t, restored, "restore", backup, "--identity", stranger); err == nil || !strings.Contains(out, ".age") {
		t.Errorf("a restore with another private key: %v\n%s", err, out)
	}
	if out, err := vayu(t, restored, "restore", backup, "--identity", identity); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(restored, "restore.decrypted")); err == nil {
		t.Error("the decrypted backup is left in the data directory")
	}
	again := serve(t, restored)
	if got := again.sql(before2020); got != want {
		t.Errorf("restored:\n%s\nbacked up:\n%s", got, want)
	}
	if r := again.eventually(s.live, question, ok); r.raw != answer.raw {
		t.Errorf("a key from before the backup gets\n%s\nwant\n%s", r.raw, answer.raw)
	}
	if r := again.get("sk_live_nobody", question); r.status != http.StatusUnauthorized {
		t.Errorf("an unknown key gets %d", r.status)
	}
	// Imported hours in the backup have figures, from the import or from the first
	// roll-up after the restore.
	const missing = `SELECT count() FROM (SELECT DISTINCT station, at FROM vayu.reading WHERE at >= '2021-01-01') AS r
		LEFT ANTI JOIN vayu.station_hour AS h ON h.station = r.station AND h.at >= r.at AND h.at < r.at + 3600`
	if out, err := vayu(t, restored, "import", realdata.Path(t, "openaq/openaq_v1_sample_pollucheck.csv")); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := again.sql(missing); !strings.HasSuffix(got, "\n0") {
		t.Errorf("hours of the import without figures: %s", got)
	}
}

// ageKey makes a private key of age in a file, and returns its path and its recipient.
func ageKey(t *testing.T) (path, recipient string) {
	t.Helper()
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "key.txt")
	if err := os.WriteFile(path, []byte(key.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, key.Recipient().String()
}

// onlyEncrypted checks that every file of a backup but its manifest is encrypted by
// age.
func onlyEncrypted(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "backup.json" {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if err == nil && !bytes.HasPrefix(text, []byte("age-encryption.org/v1\n")) {
			t.Errorf("%s is not encrypted", path)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("the backup has %d files, %v", files, err)
	}
}

func TestIntegrationBackupInClearHasNoKey(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if out, err := vayu(t, data, "import", writeReadings(t, 1)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	serve(t, data).stop(syscall.SIGTERM) // which makes the key
	backup := filepath.Join(t.TempDir(), "backup")
	if out, err := vayu(t, data, "backup", backup); err != nil || !strings.Contains(out, "the key is not in the backup") {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(backup, "encryption.key")); err == nil {
		t.Error("the backup has the key with the data that it encrypts")
	}
	restored := filepath.Join(t.TempDir(), "restored")
	if out, err := vayu(t, restored, "restore", backup); err == nil || !strings.Contains(out, "--key") {
		t.Errorf("a restore without the key: %v\n%s", err, out)
	}
	key := filepath.Join(data, "encryption.key")
	if out, err := vayu(t, restored, "restore", backup, "--key", key); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(restored, "encryption.key")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the restored key: got %q, %v, want that of the store, %q", got, err, want)
	}
	serve(t, restored).stop(syscall.SIGTERM)
}

func TestIntegrationDamagedBackupLeavesNothing(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if out, err := vayu(t, data, "import", writeReadings(t, 1)); err != nil {
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
	if out, err := vayu(t, restored, "restore", backup); err == nil || !strings.Contains(out, "not a complete backup") {
		t.Errorf("half a backup: %v\n%s", err, out)
	}
}
