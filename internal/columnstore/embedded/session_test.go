package embedded

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
	"unsafe"

	"vayu/internal/columnstore/embedded/access"
	"vayu/internal/columnstore/embedded/chdb"
	"vayu/internal/columnstore/embedded/session"
	"vayu/internal/columnstore/embedded/wire"
	"vayu/schema/statement"
)

// leaver is a context that is cancelled when its query starts: the first call of Done is that of the queue.
type leaver struct {
	context.Context
	looks int
	gone  chan struct{}
}

func (l *leaver) Done() <-chan struct{} {
	if l.looks++; l.looks == 1 {
		return nil
	}
	return l.gone
}

func (l *leaver) Err() error { return context.Canceled }

// library returns a library with one connection. query gets the text of each query; then the query has failed.
func library(t *testing.T, query func(text string), closed func()) *chdb.Library {
	t.Helper()
	var pin runtime.Pinner
	t.Cleanup(pin.Unpin)
	inner := new(uintptr)
	pin.Pin(inner)
	handle := uintptr(unsafe.Pointer(inner))
	return &chdb.Library{
		Connect:       func(int32, unsafe.Pointer) uintptr { return handle },
		CloseConn:     func(uintptr) { closed() },
		Shutdown:      func() int32 { return 0 },
		ResultError:   func(uintptr) string { return "Code: 394. DB::Exception: Query was cancelled. (QUERY_WAS_CANCELLED)" },
		DestroyResult: func(uintptr) {},
		Query: func(_ uintptr, q unsafe.Pointer, length uintptr, _ unsafe.Pointer, _ uintptr, _, _, _, _ unsafe.Pointer, _ uintptr) uintptr {
			query(strings.Clone(unsafe.String((*byte)(q), length)))
			return handle
		},
	}
}

// The KILL after a cancelled query may come late, so its session must be closed. Fake library functions
// answer a query once it has been killed.
func TestKilledSessionIsNotReused(t *testing.T) {
	t.Parallel()
	killed := make(chan struct{})
	var once sync.Once
	var closed int
	lib := library(t, func(text string) {
		if strings.HasPrefix(text, "KILL QUERY") {
			once.Do(func() { close(killed) })
		}
		<-killed
	}, func() { closed++ })
	pool, err := session.Open(lib, session.Config{Queries: 1})
	if err != nil {
		t.Fatal(err)
	}
	h := &handler{pool: pool, log: slog.New(slog.DiscardHandler)}
	ctx := &leaver{Context: t.Context(), gone: make(chan struct{})}
	close(ctx.gone)
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
	a := &answer{w: wire.Limit(httptest.NewRecorder(), r), r: r, log: h.log}
	err = h.run(ctx, &request{Statement: statement.Parse("SELECT sleep(3)"), user: access.Admin, format: "JSON", wait: true}, a)
	if exception, ok := errors.AsType[*chdb.Exception](err); !ok {
		t.Errorf("the cancelled query gave %v, want an exception", err)
	} else if exception.Name != "QUERY_WAS_CANCELLED" {
		t.Errorf("the cancelled query gave %s, want QUERY_WAS_CANCELLED", exception.Name)
	}
	if closed != 1 {
		t.Errorf("%d sessions closed, want 1", closed)
	}
}

// A query whose block runs on after KILL ends for the client. It occupies its slot until its block ends. An INSERT can
// run on in each call of the engine.
func TestQueryThatResistsKillEndsForClient(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"whole", "start", "append", "done", "cancel"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				resist(t, call)
				if took := time.Since(began); took != 3*time.Second+patience {
					t.Errorf("the queries ended after %s", took)
				}
			})
		})
	}
	t.Run("streamed", func(t *testing.T) { // over a pipe, which needs real time
		t.Parallel()
		resist(t, "streamed")
	})
}

// patience is how long the second client of resist waits. The first leaves when its query runs.
const patience = 10 * time.Millisecond

// resist runs a query that a call of the engine does not end.
func resist(t *testing.T, call string) {
	block, closed := make(chan struct{}), make(chan struct{}, 1)
	first, leave := context.WithCancel(t.Context())
	defer leave()
	at := func(reached string) {
		if reached == call {
			leave()
			<-block
		}
	}
	lib := library(t, func(text string) {
		if strings.HasPrefix(text, "SELECT 'slow'") {
			at(call)
		}
	}, func() { closed <- struct{}{} })
	lib.StartInsert = func(uintptr, unsafe.Pointer, uintptr, unsafe.Pointer, uintptr, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, uintptr) uintptr {
		at("start")
		return 1
	}
	lib.AppendInsert = func(uintptr, unsafe.Pointer, uintptr) int32 { at("append"); return 0 }
	lib.DoneInsert = func(uintptr) uintptr { at("done"); return 1 }
	lib.CancelInsert = func(uintptr) { at("cancel") }
	lib.InsertError = func(uintptr) string { return "" }
	var destroyed atomic.Int32
	lib.DestroyInsert = func(uintptr) { destroyed.Add(1) }
	pool, err := session.Open(lib, session.Config{Queries: 1})
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	h := &handler{pool: pool, log: slog.New(slog.NewTextHandler(&logged, nil)), chunks: &sync.Pool{New: func() any { b := make([]byte, 8); return &b }}}
	run := func(ctx context.Context, q *request) error {
		r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
		q.user, q.id = access.Admin, "q1"
		return h.run(ctx, q, &answer{w: wire.Limit(httptest.NewRecorder(), r), r: r, log: h.log})
	}
	slow, want := &request{Statement: statement.Parse("SELECT 'slow'"), format: "JSON", wait: call == "whole"}, "its present block of rows still runs"
	if call != "whole" && call != "streamed" {
		slow = &request{Statement: statement.Parse("INSERT INTO t FORMAT TSV"), format: "TSV", body: strings.NewReader("1\n")}
	}
	if call == "cancel" {
		slow.body, want = iotest.ErrReader(errors.New("the client has left")), "the client has left"
	}
	if err := run(first, slow); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the query gave %v", err)
	}
	if text := logged.String(); !strings.Contains(text, "level=WARN") || !strings.Contains(text, "query=q1") {
		t.Errorf("got the log %q, want a warning with the query", text)
	}
	second, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := run(second, &request{Statement: statement.Parse("SELECT 2"), format: "JSON", wait: true}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a query beside it gave %v, want that its slot is occupied", err)
	}
	pool.Close() // does not wait for it
	close(block)
	<-closed
	if got := destroyed.Load(); got != 1 && slow.Verb == "INSERT" {
		t.Errorf("the INSERT was freed %d times, want once", got)
	}
}
