package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
)

// ingestInstances is the number of instances that share the network.
const ingestInstances = 3

// BenchmarkSensors runs a network of SENSORS sensors (100,000) with a reading a minute for MINUTES (2), through three
// processes with the role ingest on one PostgreSQL and one ClickHouse. They fetch the districts of the network over HTTP
// and roll up. The benchmark fails if a reading is missing at the end. It needs bin/vayu (make build).
//
// The districts are described sources that the instances divide by lease. A push would limit an account to 10,000
// stations, and a fetched window is repeated after a crash without the help of the network.
func BenchmarkSensors(b *testing.B) {
	sensors, minutes := setting(b, "SENSORS", 100_000), setting(b, "MINUTES", 2)
	s := newSensorService(b, newSensorNetwork(sensors, max(1, min(30, sensors/1000))))
	for range b.N {
		s.run(minutes)
	}
}

// setting returns a number of the environment.
func setting(b *testing.B, name string, otherwise int) int {
	b.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		b.Fatalf("%s must be a positive number, got %d, %v", name, n, err)
	}
	return n
}

// sensorService is the program in several processes, and its network.
type sensorService struct {
	*testing.B

	network *sensorNetwork
	conn    driver.Conn
	pids    []int
}

// newSensorService starts the instances, and waits until each sensor of the network is known.
func newSensorService(b *testing.B, network *sensorNetwork) *sensorService {
	b.Helper()
	program, err := filepath.Abs(filepath.Join("..", "..", "bin", "vayu"))
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		b.Skipf("run make build first: %v", err)
	}
	s := &sensorService{B: b, network: network}
	dsn := string(sqlstoretest.PostgresDSN(b))
	s.conn = columnstoretest.New(b).Conn()
	address, password := columnstoretest.Access(b)
	sources := network.describe(b)
	for range ingestInstances {
		s.start(program, "--state", dsn, "--clickhouse", "http://default:"+password+"@"+address+"/", "--sources", strings.Join(network.names, ","), "--source-dir", sources)
	}
	return s
}

// start starts an instance, and ends it with the benchmark.
func (s *sensorService) start(program string, args ...string) {
	s.Helper()
	cmd := exec.Command(program, append([]string{"serve", "--roles", "ingest", "--data", s.TempDir(), "--listen", "127.0.0.1:0",
		"--internal-listen", "off", "--log-format", "json"}, args...)...) //nolint:noctx // stopped in order, by a signal
	cmd.Env = append(os.Environ(), "VAYU_ENCRYPTION_KEY="+strings.Repeat("A", 43)+"=")
	log, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.Fatal(err)
	}
	s.pids = append(s.pids, cmd.Process.Pid)
	s.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	serving := make(chan struct{})
	go func() {
		for lines := bufio.NewScanner(log); lines.Scan(); {
			var line struct{ Level, Msg string }
			_ = json.Unmarshal(lines.Bytes(), &line)
			switch {
			case line.Msg == "serving":
				close(serving)
			case line.Level == "WARN", line.Level == "ERROR", os.Getenv("VERBOSE") != "":
				fmt.Fprintln(os.Stderr, lines.Text())
			}
		}
	}()
	select {
	case <-serving:
	case <-time.After(5 * time.Minute):
		s.Fatal("the instance does not serve")
	}
}

// run waits until the network is registered, and measures some minutes.
func (s *sensorService) run(minutes int) {
	s.Helper()
	began := time.Now()
	s.await("every station to be registered", func() bool {
		return s.number("SELECT count() FROM vayu.station FINAL") >= float64(s.network.sensors)
	})
	s.metric(time.Since(began).Seconds(), "s/registration")
	first := time.Now().Truncate(time.Minute).Add(time.Minute)
	<-time.After(time.Until(first))
	before := s.usage()
	last := first.Add(time.Duration(minutes-1) * time.Minute)
	<-time.After(time.Until(last.Add(time.Minute)))
	after := s.usage()
	s.network.close(last)
	s.report(first, last, after.since(before))
}

// report waits until the roll-up has the last reading, and reports the figures of the minutes.
func (s *sensorService) report(first, last time.Time, used usage) {
	s.Helper()
	minutes := last.Sub(first).Minutes() + 1
	readings := float64(s.network.sensors) * minutes
	s.metric(readings/minutes/60, "readings/s")
	s.metric(used.ingest/readings*1e6, "s-of-ingest/million")
	s.metric(used.engine/readings*1e6, "s-of-engine/million")
	s.metric((used.ingest+used.engine)/minutes/60, "processors")
	s.metric(s.memory()/1e9, "GB-of-ingest")
	s.metric(load(), "load")
	within := fmt.Sprintf("at BETWEEN toDateTime(%d) AND toDateTime(%d)", first.Unix(), last.Unix())
	s.await("the last readings", func() bool {
		return s.number("SELECT count() FROM (SELECT DISTINCT station, at FROM vayu.reading WHERE "+within+")") >= readings
	})
	s.metric(s.number("SELECT quantile(0.5)(late) FROM (SELECT at, dateDiff('second', at, max(ingested_at)) AS late FROM vayu.reading WHERE "+within+" GROUP BY at)"), "s/minute-stored")
	s.metric(s.number("SELECT max(dateDiff('second', at, ingested_at)) FROM vayu.reading WHERE "+within), "s/latest-reading")
	s.metric(s.number("SELECT quantile(0.5)(seconds) FROM vayu_ops.source_run FINAL WHERE stored > 0 AND "+strings.Replace(within, "at ", "started ", 1)), "s/run")
	s.reportRollUps(first, within)
	s.reportFloor()
}

// reportRollUps waits until the hours have all readings of the minutes, and reports the roll-ups.
func (s *sensorService) reportRollUps(first time.Time, within string) {
	s.Helper()
	ended := s.number("SELECT toUnixTimestamp(max(ingested_at)) FROM vayu.reading WHERE " + within)
	if !s.await("the roll-up", func() bool { return s.number("SELECT toUnixTimestamp(max(started)) FROM vayu.rollup") > ended }) {
		return
	}
	roll := fmt.Sprintf("(SELECT toUnixTimestamp64Milli(at) / 1000 AS ended, toUnixTimestamp64Milli(started) / 1000 AS began FROM vayu.rollup WHERE began > %d)", first.Unix())
	s.metric(s.number("SELECT max(ended - began) FROM "+roll), "s/longest-roll-up")
	s.metric(s.number("SELECT count() FROM "+roll), "roll-ups")
	s.metric(s.number("SELECT min(ended) FROM "+roll+fmt.Sprintf(" WHERE began > %f", ended))-ended, "s/roll-up-behind")
	hours := s.number("SELECT sum(count) FROM vayu.station_parameter_hour FINAL")
	if stored := s.number("SELECT count() FROM vayu.reading FINAL"); hours != stored {
		s.Errorf("the hours have %.0f readings, want %.0f", hours, stored)
	}
}

// metric reports a figure, and prints it at once.
func (s *sensorService) metric(v float64, unit string) {
	s.Helper()
	s.ReportMetric(v, unit)
	fmt.Fprintf(os.Stderr, "%s %.4g %s\n", time.Now().Format(time.TimeOnly), v, unit)
}

// number returns the number that a query selects.
func (s *sensorService) number(query string) (n float64) {
	s.Helper()
	if err := s.conn.QueryRow(s.Context(), "SELECT toFloat64(("+query+"))").Scan(&n); err != nil {
		s.Fatalf("%s: %v", query, err)
	}
	return n
}

// patienceOfSensors bounds each wait.
const patienceOfSensors = 10 * time.Minute

// await polls a condition. It returns false if the benchmark fails because the condition is not met in time.
func (s *sensorService) await(what string, done func() bool) bool {
	s.Helper()
	deadline := time.After(patienceOfSensors)
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			s.Errorf("waited %s for %s", patienceOfSensors, what)
			return false
		}
	}
	return true
}

// reportFloor inserts a minute of readings without checks, stations and roll-up, and reports its rate.
func (s *sensorService) reportFloor() {
	s.Helper()
	if err := s.conn.Exec(s.Context(), "CREATE TABLE vayu.bare AS vayu.reading"); err != nil {
		s.Fatal(err)
	}
	before, began, rows := s.usage(), time.Now(), 0
	mine := fixture.ProcessorTime().Seconds()
	for part := range s.network.districts {
		columns, values := s.network.columns(part, began)
		rows += len(values[0].([]string))
		if err := columnstore.Insert(context.WithoutCancel(s.Context()), s.conn, "vayu.bare", columnstore.NewToken(), columns, values); err != nil {
			s.Fatal(err)
		}
	}
	took := time.Since(began).Seconds()
	s.metric(float64(rows)/took, "raw-readings/s")
	used := s.usage().since(before)
	s.metric((used.engine+fixture.ProcessorTime().Seconds()-mine)/float64(rows)*1e6, "s-of-raw/million")
}
