package kit

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vayu/ingest/source/described"
)

// draftFixture serves a reply to requests with the right key.
func draftFixture(t *testing.T, reply string) string {
	t.Helper()
	t.Setenv("GRID_KEY", "key-of-the-grid")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "key-of-the-grid" && r.URL.Query().Get("token") != "key-of-the-grid" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte("the key " + r.Header.Get("X-Key") + r.URL.Query().Get("token") + " is wrong"))
			return
		}
		_, _ = w.Write([]byte(reply))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

const gridReply = `{"next": {"cursor": "abc"}, "echo": "key-of-the-grid", "rows": [
	{"station_id": 1, "time": "2026-06-09T10:00:00Z", "lat": 28.6, "lon": 77.2, "pm25_ugm3": 7, "no2_ppb": 3},
	{"station_id": 1, "time": "2026-06-09T11:00:00Z", "lat": 28.6, "lon": 77.2, "pm25_ugm3": "x", "no2_ppb": 4}]}`

func TestDraftFromAddress(t *testing.T) {
	address := draftFixture(t, gridReply)
	folder := t.TempDir()
	d, err := Draft(t.Context(), "grid", address+"/v1/rows?since=2026-06-09T08:00:00Z", []string{"X-Key: ${GRID_KEY}"}, folder)
	if err != nil {
		t.Fatal(err)
	}
	if d.Fault != nil || len(d.Fetched.Readings) != 3 {
		t.Fatalf("fault %v, readings %v, want 3", d.Fault, d.Fetched)
	}
	text, err := os.ReadFile(filepath.Join(folder, "grid.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"value: ${GRID_KEY}", "since: '{from}'", "next: next.cursor", "unit: ppb # the name of the field", "unit: µg/m³ # the name of the field"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the draft lacks %q:\n%s", want, text)
		}
	}
	noKey(t, folder)
	r, err := Check(t.Context(), described.File{Path: d.Path, Text: text}, filepath.Join(folder, "grid"))
	if err != nil {
		t.Fatal(err)
	}
	if got := failures(r); !strings.HasPrefix(got, "terms:") || strings.Contains(got, "\n") {
		t.Errorf("failed:\n%s\nwant only the terms", got)
	}
	if _, err := Draft(t.Context(), "grid", address, nil, folder); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("error %v of a second draft", err)
	}
}

// noKey checks that no file of a folder has the key.
func noKey(t *testing.T, folder string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "key-of-the-grid") {
			t.Errorf("%s has the key:\n%s", path, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A draft with an unfilled line is no source until its author fills it in.
func TestDraftWithUnfilledLine(t *testing.T) {
	address := draftFixture(t, strings.ReplaceAll(gridReply, "no2_ppb", "no2"))
	folder := t.TempDir()
	d, err := Draft(t.Context(), "grid", address+"/v1/rows?token=key-of-the-grid", nil, folder)
	if err != nil {
		t.Fatal(err)
	}
	if d.Fault == nil || !strings.Contains(d.Fault.Error(), "readings.no2.unit: FILL-IN stands for") || strings.Count(d.Fault.Error(), "\n") != 1 {
		t.Errorf("fault %v, want one about the unit of NO2", d.Fault)
	}
	noKey(t, folder)
	text := []byte(strings.Replace(string(d.Text), "FILL-IN", "ppb", 1))
	f := described.File{Path: d.Path, Text: text}
	var out strings.Builder
	if err := Accept(t.Context(), &out, f, filepath.Join(folder, "grid")); err != nil || !strings.Contains(out.String(), "3 readings, 1 rejected values") {
		t.Errorf("error %v, %s", err, out.String())
	}
	r, err := Check(t.Context(), f, filepath.Join(folder, "grid"))
	if err != nil {
		t.Fatal(err)
	}
	if got := failures(r); !strings.HasPrefix(got, "terms:") || strings.Contains(got, "\n") {
		t.Errorf("failed:\n%s\nwant only the terms", got)
	}
}

func TestDraftFromFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "reply.json")
	if err := os.WriteFile(file, []byte(gridReply), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Draft(t.Context(), "grid", file, nil, filepath.Join(folder, "sources"))
	if err != nil {
		t.Fatal(err)
	}
	if d.Fault == nil || !strings.Contains(d.Fault.Error(), "request.url: FILL-IN") {
		t.Errorf("fault %v, want one about the address", d.Fault)
	}
}

func TestDraftsThatFail(t *testing.T) {
	address := draftFixture(t, "<html>")
	for name, c := range map[string]struct {
		name, from, header, want string
	}{
		"name":            {"Grid", address, "", `the name "Grid" must be`},
		"refused":         {"grid", address + "?token=other-token", "", "status 401 Unauthorized: the key *** is wrong"},
		"web page":        {"grid", address + "?token=key-of-the-grid", "", "HTML"},
		"unset variable":  {"grid", address + "?token=${UNSET_KEY}", "", "the environment variable UNSET_KEY is not set"},
		"header":          {"grid", address, "X-Key=1", "is not like"},
		"plain http":      {"grid", "http://api.example.com/", "", "https only"},
		"missing file":    {"grid", "missing.json", "", "no such file"},
		"private address": {"grid", "https://localhost.localdomain:1/", "", "drafting source"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			var headers []string
			if c.header != "" {
				headers = []string{c.header}
			}
			_, err := Draft(t.Context(), c.name, c.from, headers, folder)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if files, _ := os.ReadDir(folder); len(files) > 0 {
				t.Errorf("files %v after an error", files)
			}
		})
	}
}
