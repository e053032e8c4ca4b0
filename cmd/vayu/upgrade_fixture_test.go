//go:build integration

package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"vayu/internal/columnstore/backup"
	"vayu/internal/sqlstore/dump"
)

// releasedFiles is the folder of the data of earlier versions; .ci/upgrade-data makes
// it.
const releasedFiles = "testdata/upgrade"

// released is an earlier version.
type released struct {
	Version       string
	Made          time.Time
	Live, Sandbox string // keys
	Webhook       string // id of a subscription to localhost
	Secret        string // of the subscription
	Begun         string // a recharge that was under way at the end, and succeeds
	Answers       []struct {
		World, Path string
		Body        any
	}

	data, backup string // its directory, and a backup that it made of it
}

// eachRelease runs a test on the data of each earlier version, unpacked again.
func eachRelease(t *testing.T, do func(t *testing.T, old released)) {
	t.Helper()
	files, err := filepath.Glob(releasedFiles + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("there is no data of earlier versions")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var old released
		if err := json.Unmarshal(text, &old); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		t.Run(old.Version, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			unpack(t, strings.TrimSuffix(file, ".json")+".tar.gz", dir)
			old.data, old.backup = filepath.Join(dir, "data"), filepath.Join(dir, "backup")
			do(t, old)
		})
	}
}

// unpack writes the folders, files and links of an archive into dir.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for entries := tar.NewReader(zip); ; {
		e, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = unpackOne(filepath.Join(dir, filepath.Clean("/"+e.Name)), e, entries)
		}
		if err != nil {
			t.Fatalf("%s: %v", archive, err)
		}
	}
}

func unpackOne(path string, e *tar.Header, from io.Reader) error {
	switch e.Typeflag {
	case tar.TypeDir:
		return os.MkdirAll(path, e.FileInfo().Mode().Perm())
	case tar.TypeSymlink:
		return os.Symlink(e.Linkname, path)
	case tar.TypeReg:
		text, err := io.ReadAll(from)
		if err != nil {
			return err
		}
		return os.WriteFile(path, text, e.FileInfo().Mode().Perm())
	}
	return fmt.Errorf("%s is of kind %q", e.Name, e.Typeflag)
}

// retentionDays are the retention times of answers in days. After that the data are
// purged, and answers are not compared.
var retentionDays = []struct {
	part string // of the path
	days int
}{
	{"/v1/deliveries", 30}, {"/v1/events", 30}, {"/deliveries", 30}, {"view=detail", 30}, {"/results", 7}, {"/v1/bank/verify", 90},
}

// expectedChanges are fields that change by themselves, with the reason.
var expectedChanges = map[string]string{
	"/v1/keys last_used_at":    "asking is using",
	"/v1/keys/ last_used_at":   "asking is using",
	"/v1/webhooks failing_for": "a duration until now",
}

// compareAnswers repeats the requests to the old version. Each old answer must be part
// of the new one, with the order of its lists. New fields and elements are allowed.
// Except has prefixes of paths to skip.
func (s *serverProcess) compareAnswers(old released, except ...string) {
	s.Helper()
	compared := 0
	for _, a := range old.Answers {
		if slices.ContainsFunc(except, func(part string) bool { return strings.HasPrefix(a.Path, part) }) {
			continue
		}
		key := old.Sandbox
		if a.World == "live" {
			key = old.Live
		}
		r := s.answer(key, a.Path)
		over := slices.ContainsFunc(retentionDays, func(l struct {
			part string
			days int
		}) bool {
			return strings.Contains(a.Path, l.part) && time.Since(old.Made) > time.Duration(l.days)*24*time.Hour-time.Hour
		})
		if over {
			continue
		}
		compared++
		var got any
		if err := json.Unmarshal([]byte(r.raw), &got); err != nil {
			s.Errorf("%s: %v in %s", a.Path, err, r.raw)
		}
		for _, fault := range lacking(a.Path, a.Body, got) {
			s.Errorf("%s: %s", a.Path, fault)
		}
	}
	if compared < len(old.Answers)/2 {
		s.Errorf("only %d of %d answers could be compared: it is time for newer data", compared, len(old.Answers))
	}
}

// lacking returns what a new value lacks of an old one.
func lacking(path string, old, got any) (faults []string) {
	if list, ok := old.([]any); ok {
		return lackingElements(path, list, got)
	}
	fields, ok := old.(map[string]any)
	if !ok {
		if !reflect.DeepEqual(old, got) {
			faults = append(faults, fmt.Sprintf("it was %v, and is %v", old, got))
		}
		return faults
	}
	is, _ := got.(map[string]any)
	resource, _, _ := strings.Cut(path, "?")
	if i := strings.LastIndex(resource, "/"); strings.Count(resource, "/") > 2 {
		resource = resource[:i+1]
	}
	for name, value := range fields {
		if expectedChanges[resource+" "+name] != "" {
			continue
		}
		now, there := is[name]
		if !there {
			faults = append(faults, fmt.Sprintf("%s is gone; it was %v", name, value))
			continue
		}
		for _, fault := range lacking(path, value, now) {
			faults = append(faults, name+": "+fault)
		}
	}
	return faults
}

// lackingElements searches each element of a list after the previous one.
func lackingElements(path string, old []any, got any) (faults []string) {
	list, _ := got.([]any)
	for n, one := range old {
		var nearest []string
		at := slices.IndexFunc(list, func(v any) bool {
			these := lacking(path, one, v)
			if nearest == nil || len(these) < len(nearest) {
				nearest = these
			}
			return len(these) == 0
		})
		if at < 0 {
			faults = append(faults, fmt.Sprintf("element %d is not there; of the nearest: %v", n, nearest))
			continue
		}
		list = list[at+1:]
	}
	return faults
}

// migrationRows are the rows that migrations insert into a table of 0.1.0:
// 0004_parameter.sql records that plain means of its readings are wanted.
var migrationRows = map[string]uint64{"vayu.rollup": 1}

// compareBackups checks that every row of an old backup is in a new one; new columns
// are allowed.
func compareBackups(t *testing.T, old, got string) {
	t.Helper()
	compareState(t, filepath.Join(old, "state"), filepath.Join(got, "state"))
	was, err := backup.ReadManifest(filepath.Join(old, "clickhouse"))
	is, again := backup.ReadManifest(filepath.Join(got, "clickhouse"))
	if err := cmp.Or(err, again); err != nil {
		t.Fatal(err)
	}
	tables := map[string]backup.Table{}
	for _, d := range is.Databases {
		for _, table := range d.Tables {
			tables[d.Name+"."+table.Name] = table
		}
	}
	rows := uint64(0)
	for _, d := range was.Databases {
		for _, table := range d.Tables {
			now := tables[d.Name+"."+table.Name]
			rows += table.Rows()
			migrated := !slices.Equal(table.Columns, now.Columns)
			want := table.Rows()
			if migrated {
				want += migrationRows[d.Name+"."+table.Name]
			}
			if now.Rows() != want {
				t.Errorf("%s.%s has %d rows instead of %d", d.Name, table.Name, now.Rows(), want)
			}
			if migrated {
				continue // the hash is of all columns
			}
			for i := range min(len(table.Files), len(now.Files)) {
				if table.Files[i].Hash != now.Files[i].Hash {
					t.Errorf("%s has other rows", table.Files[i].Path)
				}
			}
		}
	}
	if rows < 1000 {
		t.Errorf("the old backup has %d rows of air only", rows)
	}
}

func compareState(t *testing.T, old, got string) {
	t.Helper()
	was, is := stateRows(t, old), stateRows(t, got)
	for table, rows := range was {
		for _, row := range rows {
			if !slices.ContainsFunc(is[table], func(now map[string]any) bool { return len(lacking(table, row, now)) == 0 }) {
				t.Errorf("a row of table %s is gone or was changed: %v", table, row)
			}
		}
	}
	switch {
	case len(was["posting"]) == 0:
		t.Error("the old backup has nothing to be compared: was[\"posting\"] is empty")
	case len(was["recharge"]) == 0:
		t.Error("the old backup has nothing to be compared: was[\"recharge\"] is empty")
	case len(was["delivery"]) == 0:
		t.Error("the old backup has nothing to be compared: was[\"delivery\"] is empty")
	case len(was["audit"]) == 0:
		t.Error("the old backup has nothing to be compared: was[\"audit\"] is empty")
	}
}

// stateRows reads every row of a dump.
func stateRows(t *testing.T, dir string) map[string][]map[string]any {
	t.Helper()
	m, err := dump.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]map[string]any{}
	for _, table := range m.Tables {
		packed, err := os.Open(filepath.Join(dir, table.File))
		if err != nil {
			t.Fatal(err)
		}
		lines, err := zstd.NewReader(bufio.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(lines)
		lines.Close()
		if err := cmp.Or(err, packed.Close()); err != nil {
			t.Fatal(err)
		}
		rows := json.NewDecoder(bytes.NewReader(text))
		rows.UseNumber()
		for rows.More() {
			row := map[string]any{}
			if err := rows.Decode(&row); err != nil {
				t.Fatal(err)
			}
			all[table.Name] = append(all[table.Name], row)
		}
	}
	return all
}
