//go:build integration

package main

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"vayu/internal/testing/realdata"
	"vayu/schema"
)

func TestIntegrationFreshStartAnswersFromTheSandbox(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	r := s.eventually(s.sandbox, aqi("Delhi"), ok)
	for _, field := range []string{"status", "city", "aqi", "category", "pm25", "pm10", "no2", "so2", "co", "o3", "dominant", "updated"} {
		if _, there := r.body[field]; !there {
			t.Errorf("the record has no %s: %s", field, r.raw)
		}
	}
	if r.header.Get("X-SERVICE-Mode") != "sandbox" {
		t.Error("a sandbox reply has no sandbox header")
	}
	if live := s.get(s.live, aqi("Delhi")); live.status == http.StatusOK {
		t.Errorf("the live world shows simulated air: %s", live.raw)
	}
	if none := s.get("", aqi("Delhi")); none.status != http.StatusUnauthorized {
		t.Errorf("without a key: %d", none.status)
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		if r := s.get("", path); r.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, r.status, r.raw)
		}
	}
	if out, err := vayu(t, s.data, "serve", "--listen", "127.0.0.1:0", "--sources", "none"); err == nil || !strings.Contains(out, strconv.Itoa(s.cmd.Process.Pid)) {
		t.Errorf("a second service on the same data: %v, and it does not name process %d:\n%s", err, s.cmd.Process.Pid, out)
	}
	s.stop(syscall.SIGTERM)
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("a graceful stop ends with status %d", code)
	}
	again := serve(t, s.data)
	if r := again.get(s.sandbox, aqi("Delhi")); r.status != http.StatusOK {
		t.Errorf("the first request after a restart: %d %s", r.status, r.raw)
	}
}

// dataGov are the saved downloads in order of time, except one with a single pollutant
// of each station.
var dataGov = []string{
	"datagov/PriyanshiJain09.csv", "datagov/debdattasarkar.csv", "datagov/Ls6375.csv", "datagov/PRAVEENMK-GIT.csv", "datagov/Khushal-08.csv",
}

// expectedCities computes the AQI of every city of a download, and the Indian day of
// its hour. A station has its largest average if it has three pollutants and a PM. A
// city has the mean of its stations, rounded half up.
func expectedCities(t *testing.T, rows [][]string, cityOf map[string][2]string) (cities map[[2]string]int, day string) {
	t.Helper()
	type station struct{ city, state, name string }
	subs := make(map[station]map[string]int)
	for _, r := range rows[1:] {
		v, err := strconv.Atoi(r[10])
		if err != nil {
			continue
		}
		k := station{cityOf[r[3]][0], cityOf[r[3]][1], r[3]}
		if subs[k] == nil {
			subs[k] = make(map[string]int)
		}
		subs[k][r[7]] = v
	}
	sum, n := make(map[[2]string]int), make(map[[2]string]int)
	for k, values := range subs {
		_, pm25 := values["PM2.5"]
		_, pm10 := values["PM10"]
		if len(values) < 3 || !pm25 && !pm10 {
			continue
		}
		most := 0
		for _, v := range values {
			most = max(most, v)
		}
		city := [2]string{k.city, k.state}
		sum[city] += most
		n[city]++
	}
	for city, total := range sum {
		sum[city] = (2*total + n[city]) / (2 * n[city])
	}
	at, err := time.ParseInLocation("02-01-2006 15:04:05", rows[1][4], schema.India)
	if err != nil {
		t.Fatal(err)
	}
	return sum, schema.DayOf(at).String()
}

// downloads reads the saved downloads, and the city of each station from the newest
// one. CPCB has moved stations from Pune to Pimpri-Chinchwad and back.
func downloads(t *testing.T) (files [][][]string, cityOf map[string][2]string) {
	t.Helper()
	cityOf = make(map[string][2]string)
	for _, name := range dataGov {
		f, err := os.Open(realdata.Path(t, name))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows[1:] {
			cityOf[r[3]] = [2]string{r[2], strings.NewReplacer("_", "", " ", "").Replace(r[1])} // also "TamilNadu"
			if r[2] == "Byrnihat" {                                                             // one city in two states
				cityOf[r[3]] = [2]string{r[2], "Meghalaya"}
			}
		}
		files = append(files, rows)
	}
	return files, cityOf
}

func TestIntegrationImportsGiveTheCitiesOfTheFiles(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	args := []string{"import"}
	for _, name := range dataGov {
		args = append(args, realdata.Path(t, name))
	}
	if out, err := vayu(t, s.data, args...); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const tables = "SELECT (SELECT count() FROM vayu.reading FINAL), (SELECT count() FROM vayu.station_hour FINAL), " +
		"(SELECT sum(cityHash64(toString(tuple(* EXCEPT computed_at)))) FROM vayu.city_hour FINAL), (SELECT sum(cityHash64(toString(tuple(* EXCEPT computed_at)))) FROM vayu.city_day FINAL)"
	first := s.sql(tables)
	s.eventually(s.live, aqi("Delhi"), ok)
	compared := 0
	files, cityOf := downloads(t)
	for i, rows := range files {
		cities, day := expectedCities(t, rows, cityOf)
		for city, want := range cities {
			name := city[0]
			if name == "Aurangabad" { // homonyms
				name += ", " + city[1]
			}
			questions := []string{aqi(name, "date", day)}
			if i == len(dataGov)-1 {
				questions = append(questions, aqi(name))
			}
			for _, question := range questions {
				r := s.answer(s.live, question)
				if got, _ := r.body["aqi"].(float64); r.status != http.StatusOK || int(got) != want {
					t.Errorf("%s: got %d with the AQI %v, want 200 with %d: %s", question, r.status, got, want, r.raw)
				}
				compared++
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d answers were compared", compared)
	}
	if r := s.get(s.live, aqi("Aurangabad")); r.status != http.StatusBadRequest {
		t.Errorf("a homonym without its state: %d %s", r.status, r.raw)
	}
	for _, pin := range []string{"110001", "411004"} {
		s.eventually(s.live, "/v1/aqi?pincode="+pin, ok)
	}
	if out, err := vayu(t, s.data, args...); err != nil {
		t.Fatalf("importing again: %v\n%s", err, out)
	}
	if again := s.sql(tables); again != first {
		t.Errorf("importing twice changed something:\n%s\n%s", first, again)
	}
}

func TestIntegrationAnswersOutliveTheEngine(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	s.eventually(s.sandbox, aqi("Delhi"), ok)
	for range 3 {
		port, err := os.ReadFile(filepath.Join(s.data, "engine.port"))
		if err != nil {
			t.Fatal(err)
		}
		before := s.get("", "/metrics").metric("vayu_engine_restarts_total")
		pid := s.enginePID()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatalf("killing engine %d at %s: %v", pid, port, err)
		}
		restarted := func(r reply) bool {
			return r.metric("vayu_engine_restarts_total") > before && r.metric("vayu_engine_up") == 1
		}
		for i := 0; ; i++ {
			if r := s.get(s.sandbox, aqi("Delhi")); r.status != http.StatusOK {
				t.Fatalf("a current answer while the engine is away: %d %s", r.status, r.raw)
			}
			if restarted(s.get("", "/metrics")) {
				break
			}
		}
		s.eventually(s.sandbox, aqi("Kolkata", "date", s.yesterday()), ok)
	}
}

// enginePID finds the engine's process: the only child of the service.
func (s *serverProcess) enginePID() int {
	s.Helper()
	path := fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", s.cmd.Process.Pid)
	children, err := os.ReadFile(path)
	if err == nil && len(strings.Fields(string(children))) == 0 {
		children, err = s.childrenOfThreads()
	}
	if err != nil {
		s.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.Fields(string(children))[0])
	if err != nil {
		s.Fatal(err)
	}
	return pid
}

// childrenOfThreads reads the children of every thread: a child belongs to the thread
// that started it.
func (s *serverProcess) childrenOfThreads() ([]byte, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.cmd.Process.Pid))
	if err != nil {
		return nil, err
	}
	var all []byte
	for _, f := range files {
		one, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	return all, nil
}

// metric returns the value of a metric without labels, or -1.
func (r reply) metric(name string) float64 {
	for line := range strings.Lines(r.raw) {
		if rest, found := strings.CutPrefix(line, name+" "); found {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err == nil {
				return v
			}
		}
	}
	return -1
}

// yesterday returns a date for which the sandbox has air.
func (s *serverProcess) yesterday() string {
	s.Helper()
	updated, _ := s.get(s.sandbox, aqi("Delhi")).body["updated"].(string)
	if len(updated) < len("2006-01-02") {
		s.Fatal("the record has no time")
	}
	return updated[:len("2006-01-02")]
}
