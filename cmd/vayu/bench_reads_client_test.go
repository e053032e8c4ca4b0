package main

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vayu/internal/testing/fixture"
)

const (
	mixedInterval = 200 * time.Microsecond // between two requests
	// mixedConnections are enough that a slow read delays no other read of the schedule, as apps have connections of their own.
	mixedConnections = 1_000
	// mixedPatience bounds a measurement beyond its schedule, so that a hanging service ends it.
	mixedPatience = time.Minute
)

// latencies are those of reads, in milliseconds.
type latencies []float64

// quantile returns the latency below which a share of the reads are.
func (l *latencies) quantile(share float64) float64 {
	if len(*l) == 0 {
		return 0
	}
	slices.Sort(*l)
	return (*l)[int(float64(len(*l)-1)*share)]
}

// measured is the result of a measurement.
type measured struct {
	elapsed     time.Duration
	all         latencies
	byKind      map[string]*latencies
	notModified atomic.Int64
	refused     atomic.Int64 // with a status from 400
}

// kinds returns the names of the kinds of reads, the slowest first.
func (m *measured) kinds() []string {
	return slices.SortedFunc(maps.Keys(m.byKind), func(a, b string) int {
		return int(1e3 * (m.byKind[b].quantile(0.99) - m.byKind[a].quantile(0.99)))
	})
}

// measureReads sends n reads on a schedule over kept connections. A latency counts from the time when the read was due, so
// a pause of the service delays all reads that were due in it. A read can start a millisecond late, because timers are
// that exact. This is part of its latency, too.
func measureReads(b *testing.B, address string, reads []read, n int, floor bool) *measured {
	b.Helper()
	m := &measured{all: make(latencies, n), byKind: map[string]*latencies{}}
	connections := make([]*rawConn, mixedConnections)
	for i := range connections {
		connections[i] = dialRaw(b, address, time.Now().Add(time.Duration(n)*mixedInterval+mixedPatience))
	}
	var next atomic.Int64
	var mu sync.Mutex
	var failed error
	begun := time.Now()
	var workers sync.WaitGroup
	for _, c := range connections {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				r := &reads[i%len(reads)]
				request := r.bytes
				if floor {
					request = r.floor
				}
				due := begun.Add(time.Duration(i) * mixedInterval)
				<-time.After(time.Until(due))
				status, err := c.roundTrip(request)
				m.all[i] = float64(time.Since(due).Microseconds()) / 1e3
				switch {
				case err == nil && status == http.StatusOK:
				case err == nil && status == http.StatusNotModified:
					m.notModified.Add(1)
				case err == nil:
					m.refused.Add(1)
				default:
					mu.Lock()
					failed = fmt.Errorf("%s: %w", bytes.SplitN(r.bytes, []byte("\r"), 2)[0], err)
					mu.Unlock()
					return
				}
			}
		})
	}
	workers.Wait()
	m.elapsed = time.Since(begun)
	if failed != nil {
		b.Fatal(failed)
	}
	for i, latency := range m.all {
		kind := reads[i%len(reads)].kind
		if m.byKind[kind] == nil {
			m.byKind[kind] = &latencies{}
		}
		*m.byKind[kind] = append(*m.byKind[kind], latency)
	}
	return m
}

// rawConn is a kept connection of HTTP/1.1. It only looks at the status, and at what ends a reply, because the client
// shares the processors with the service.
type rawConn struct {
	conn net.Conn
	in   *bufio.Reader
}

func dialRaw(b *testing.B, address string, deadline time.Time) *rawConn {
	b.Helper()
	conn, err := net.Dial("tcp", address) //nolint:noctx // on this machine
	if err == nil {
		err = conn.SetDeadline(deadline)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	return &rawConn{conn, bufio.NewReaderSize(conn, 16<<10)}
}

// roundTrip sends a request, and drops the reply.
func (c *rawConn) roundTrip(request []byte) (status int, err error) {
	if _, err := c.conn.Write(request); err != nil {
		return 0, err
	}
	line, err := c.line()
	if err != nil || len(line) < len("HTTP/1.1 200") {
		return 0, fmt.Errorf("status line %q: %w", line, err)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, err
	}
	length, chunked := 0, false
	for {
		if line, err = c.line(); err != nil {
			return status, err
		}
		if len(line) == 0 {
			break
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return status, err
			}
		}
		chunked = chunked || string(line) == "Transfer-Encoding: chunked"
	}
	if !chunked {
		_, err = c.in.Discard(length)
		return status, err
	}
	for size := int64(1); size > 0; {
		if line, err = c.line(); err != nil {
			return status, err
		}
		if size, err = strconv.ParseInt(string(line), 16, 32); err != nil {
			return status, err
		}
		if _, err = c.in.Discard(int(size) + len("\r\n")); err != nil {
			return status, err
		}
	}
	return status, nil
}

// line reads a line of a head. It is valid until the next read.
func (c *rawConn) line() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	return bytes.TrimRight(line, "\r\n"), err
}

// clockTicks are the units of processor time in /proc in a second (man 5 proc); it is 100 on all architectures of Go.
const clockTicks = 100

// processorSeconds returns the processor time of the service, its engine, this process (the client) and the bare mux.
func processorSeconds(b *testing.B, service, mux int) map[string]float64 {
	b.Helper()
	all := map[string]float64{}
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		_, rest, _ := strings.Cut(string(text), ") ") // its name may have blanks
		fields := strings.Fields(rest)
		parent, _ := strconv.Atoi(fields[1])
		user, _ := strconv.ParseFloat(fields[11], 64)
		system, _ := strconv.ParseFloat(fields[12], 64)
		seconds := (user + system) / clockTicks
		switch {
		case pid == service:
			all["service"] = seconds
		case parent == service:
			all["engine"] += seconds
		case pid == mux:
			all["mux"] = seconds
		}
	}
	all["client"] = fixture.ProcessorTime().Seconds()
	return all
}
