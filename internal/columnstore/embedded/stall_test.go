package embedded

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"vayu/internal/columnstore/embedded/access"
	"vayu/internal/columnstore/embedded/session"
	"vayu/internal/columnstore/embedded/wire"
	"vayu/schema/statement"
)

// piped is a reply that reaches the client over a connection without a buffer.
type piped struct {
	http.ResponseWriter
	net.Conn
}

func (w piped) Write(p []byte) (int, error) { return w.Conn.Write(p) }

// The handler sets the deadlines of both directions: a request whose body stalls gets an error.
func TestStalledRequestGetsError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		h := &handler{passwords: map[access.User]string{access.Analyst: "secret"}, log: slog.New(slog.DiscardHandler)}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", server)
		r.SetBasicAuth("analyst", "secret")
		go func() {
			defer server.Close()
			h.ServeHTTP(piped{httptest.NewRecorder(), server}, r)
		}()
		_, _ = client.Write([]byte("SELECT"))
		reply, err := io.ReadAll(client)
		if err != nil || !strings.HasPrefix(string(reply), "Code: 209. DB::Exception: The client sent nothing of the body for 1m0s (SOCKET_TIMEOUT)") {
			t.Errorf("got %q, %v", reply, err)
		}
	})
}

// An analyst who reads a whole result slowly occupies a slot for the time limit of a query. Administrators have many slots.
func TestSlowAnalystFreesSlot(t *testing.T) {
	t.Parallel()
	const chunks = 100
	for user, want := range map[access.User]time.Duration{access.Analyst: time.Minute, access.Admin: chunks * 6 * time.Second} {
		t.Run(string(user), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				data := make([]byte, chunks*wire.ChunkBytes)
				lib := library(t, func(string) {}, func() {})
				lib.ResultError = func(uintptr) string { return "" }
				lib.ResultBuffer = func(uintptr) unsafe.Pointer { return unsafe.Pointer(&data[0]) }
				lib.ResultLength = func(uintptr) uintptr { return uintptr(len(data)) }
				number := func(uintptr) uint64 { return 0 }
				lib.ResultRows, lib.ResultBytes, lib.ResultScanned, lib.ResultScannedB, lib.ResultWritten, lib.ResultWrittenB = number, number, number, number, number, number
				limits := access.Limits{Time: time.Minute, Queries: 1}
				pool, err := session.Open(lib, session.Config{Queries: 1, Analysts: limits})
				if err != nil {
					t.Fatal(err)
				}
				server, client := net.Pipe()
				read := make(chan struct{})
				go func() {
					defer close(read)
					for err := error(nil); err == nil; _, err = io.CopyN(io.Discard, client, wire.ChunkBytes) {
						time.Sleep(6 * time.Second)
					}
				}()
				h := &handler{pool: pool, limits: limits, log: slog.New(slog.DiscardHandler)}
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
				s, err := pool.Acquire(t.Context(), session.Key{User: user})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				a := &answer{w: wire.Limit(piped{httptest.NewRecorder(), server}, r), r: r, user: user, complete: func() {}, log: h.log}
				if err := h.whole(s, &request{Statement: statement.Parse("SELECT 1"), user: user, format: "TSV"}, a); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took != want {
					t.Errorf("the reply ended after %s, want %s", took, want)
				}
				_, _ = server.Close(), client.Close()
				<-read
			})
		})
	}
}
