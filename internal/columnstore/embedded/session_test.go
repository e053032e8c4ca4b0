package embedded

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"vayu/internal/columnstore/embedded/access"
	"vayu/internal/columnstore/embedded/chdb"
	"vayu/internal/columnstore/embedded/session"
	"vayu/internal/columnstore/embedded/statement"
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

// The KILL after a cancelled query may come late, so its session must be closed. Fake library functions
// answer a query once it has been killed.
func TestKilledSessionIsNotReused(t *testing.T) {
	t.Parallel()
	var pin runtime.Pinner
	defer pin.Unpin()
	inner := new(uintptr)
	pin.Pin(inner)
	handle := uintptr(unsafe.Pointer(inner))
	killed := make(chan struct{})
	var once sync.Once
	var closed int
	lib := &chdb.Library{
		Connect:       func(int32, unsafe.Pointer) uintptr { return handle },
		CloseConn:     func(uintptr) { closed++ },
		ResultError:   func(uintptr) string { return "Code: 394. DB::Exception: Query was cancelled. (QUERY_WAS_CANCELLED)" },
		DestroyResult: func(uintptr) {},
		Query: func(_ uintptr, q unsafe.Pointer, length uintptr, _ unsafe.Pointer, _ uintptr, _, _, _, _ unsafe.Pointer, _ uintptr) uintptr {
			if strings.HasPrefix(unsafe.String((*byte)(q), length), "KILL QUERY") {
				once.Do(func() { close(killed) })
			}
			<-killed
			return handle
		},
	}
	pool, err := session.Open(lib, session.Config{Queries: 1})
	if err != nil {
		t.Fatal(err)
	}
	h := &handler{pool: pool, log: slog.New(slog.DiscardHandler)}
	ctx := &leaver{Context: t.Context(), gone: make(chan struct{})}
	close(ctx.gone)
	a := &answer{w: httptest.NewRecorder(), r: httptest.NewRequestWithContext(t.Context(), "GET", "/", nil), log: h.log}
	err = h.run(ctx, &request{Statement: statement.Parse("SELECT sleep(3)"), user: access.Admin, format: "JSON", wait: true}, a)
	var exception *chdb.Exception
	if !errors.As(err, &exception) || exception.Name != "QUERY_WAS_CANCELLED" {
		t.Errorf("the cancelled query gave %v", err)
	}
	if closed != 1 {
		t.Errorf("%d sessions closed, want 1", closed)
	}
}
