package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// sensorNetwork is a network of sensors. Each measures PM2.5, PM10 and NO2 in turn, one a minute. It serves a table for
// each district.
type sensorNetwork struct {
	sensors, districts int
	names              []string // of the sources
	last               atomic.Int64
}

func newSensorNetwork(sensors, districts int) *sensorNetwork {
	n := &sensorNetwork{sensors: sensors, districts: districts}
	n.last.Store(1 << 40)
	for i := range districts {
		n.names = append(n.names, fmt.Sprintf("district%02d", i))
	}
	return n
}

// close makes the network serve no readings after an instant.
func (n *sensorNetwork) close(last time.Time) { n.last.Store(last.Unix()) }

// describe serves the network, and returns a folder with the descriptions of its districts.
func (n *sensorNetwork) describe(b *testing.B) string {
	b.Helper()
	server := httptest.NewServer(n)
	b.Cleanup(server.Close)
	folder := b.TempDir()
	for i, name := range n.names {
		text := fmt.Sprintf(`about: sensors of a district, each minute
network: district
licence: CC BY 4.0
attribution: Sensors of India
schedule: "* * * * *"
jitter: 40s
overlap: 5s
local: true
request:
  url: %s/%d
  query: {from: "{from}", to: "{to}"}
  window-format: epoch
format: csv
station: {id: sensor, name: sensor, latitude: latitude, longitude: longitude, kind: sensor}
time: {field: at, format: epoch}
averaging: 1m
value: {field: value, parameter-field: parameter, unit: µg/m³}
`, server.URL, i)
		if err := os.WriteFile(filepath.Join(folder, name+".yaml"), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return folder
}

// sensorParameters are measured in turn.
var sensorParameters = [...]string{"pm25", "pm10", "no2"}

// ServeHTTP serves the readings of a district in the requested range.
func (n *sensorNetwork) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	district, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	from, _ := strconv.ParseInt(r.FormValue("from"), 10, 64)
	to, _ := strconv.ParseInt(r.FormValue("to"), 10, 64)
	w.Header().Set("Content-Type", "text/csv")
	line := []byte("sensor,latitude,longitude,parameter,at,value\n")
	for minute := from/60 + 1; minute*60 <= min(to, n.last.Load()); minute++ {
		for sensor := district; sensor < n.sensors; sensor += n.districts {
			line = n.append(line, sensor, minute)
			if len(line) > 1<<16 {
				_, _ = w.Write(line)
				line = line[:0]
			}
		}
	}
	_, _ = w.Write(line)
}

// append appends the reading of a sensor in a minute.
func (n *sensorNetwork) append(line []byte, sensor int, minute int64) []byte {
	at := n.position(sensor)
	line = fmt.Appendf(line, "%07d,", sensor)
	line = append(strconv.AppendFloat(line, at[0], 'f', 5, 64), ',')
	line = append(strconv.AppendFloat(line, at[1], 'f', 5, 64), ',')
	line = append(append(line, sensorParameters[minute%3]...), ',')
	line = append(strconv.AppendInt(line, minute*60, 10), ',')
	return append(strconv.AppendFloat(line, value(sensor, minute), 'f', 2, 64), '\n')
}

// position returns a place in the middle of India. Sensors have some 400 m between them.
func (n *sensorNetwork) position(sensor int) [2]float64 {
	const side = 1000
	return [2]float64{21 + 4*float64(sensor/side%side)/side, 76 + 4*float64(sensor%side)/side}
}

// value returns a pseudo-random value that a codec cannot compress.
func value(sensor int, minute int64) float64 {
	h := (uint64(sensor)<<32 | uint64(minute)) * 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	return float64((h^h>>27)*0x94d049bb133111eb>>16%15000) / 100
}

// columns returns the readings of a district in a minute as columns of the table reading.
func (n *sensorNetwork) columns(district int, at time.Time) ([]clickhouse.ColumnNameAndType, []any) {
	var stations []string
	var values []float64
	minute := at.Unix() / 60
	for sensor := district; sensor < n.sensors; sensor += n.districts {
		stations, values = append(stations, fmt.Sprintf("district-%07d", sensor)), append(values, value(sensor, minute))
	}
	rows := len(stations)
	return []clickhouse.ColumnNameAndType{
			{Name: "station", Type: "String"}, {Name: "parameter", Type: "String"}, {Name: "at", Type: "DateTime('UTC')"}, {Name: "value", Type: "Float64"},
			{Name: "kind", Type: "Int8"}, {Name: "averaging", Type: "UInt16"}, {Name: "source", Type: "String"},
		}, []any{
			stations, slices.Repeat([]string{sensorParameters[minute%3]}, rows), slices.Repeat([]int64{minute * 60}, rows), values,
			slices.Repeat([]int8{1}, rows), slices.Repeat([]uint16{1}, rows), slices.Repeat([]string{n.names[district]}, rows),
		}
}

// usage is processor time in seconds.
type usage struct{ ingest, engine float64 }

func (u usage) since(before usage) usage {
	return usage{u.ingest - before.ingest, u.engine - before.engine}
}

// usage returns the processor time of the instances and of the engine. The engine is the child of this process that is
// no instance.
func (s *sensorService) usage() (u usage) {
	self := strconv.Itoa(os.Getpid())
	for pid, fields := range processes() {
		user, _ := strconv.ParseFloat(fields[11], 64)
		system, _ := strconv.ParseFloat(fields[12], 64)
		switch seconds := (user + system) / 100; {
		case slices.Contains(s.pids, pid):
			u.ingest += seconds
		case fields[1] == self:
			u.engine += seconds
		}
	}
	return u
}

// memory returns the resident memory of the instances in bytes.
func (s *sensorService) memory() (bytes float64) {
	for pid, fields := range processes() {
		if slices.Contains(s.pids, pid) {
			pages, _ := strconv.ParseFloat(fields[21], 64)
			bytes += pages * float64(os.Getpagesize())
		}
	}
	return bytes
}

// processes returns the fields of /proc/PID/stat after the name of the program: state, parent and others.
func processes() map[int][]string {
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	all := make(map[int][]string, len(paths))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])); len(fields) > 21 {
			all[pid] = fields
		}
	}
	return all
}

// load returns the load average of the last minute.
func load() float64 {
	text, _ := os.ReadFile("/proc/loadavg")
	n, _, _ := strings.Cut(string(text), " ")
	v, _ := strconv.ParseFloat(n, 64)
	return v
}
