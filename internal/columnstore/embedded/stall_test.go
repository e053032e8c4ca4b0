package embedded

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vayu/internal/columnstore/embedded/access"
	"vayu/internal/columnstore/embedded/chdb"
)

// wire is a reply that reaches the client over a connection without a buffer.
type wire struct {
	http.ResponseWriter
	net.Conn
}

func (w wire) Write(p []byte) (int, error) { return w.Conn.Write(p) }

// A client that reads nothing, or too little, loses its reply. The time is that of the bubble.
func TestStalledReaderLosesReply(t *testing.T) {
	t.Parallel()
	for name, reads := range map[string]int{"nothing": 0, "the first chunk": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server, client := net.Pipe()
				defer client.Close()
				began := time.Now()
				go func() { _, _ = io.CopyN(io.Discard, client, int64(reads)*chunkBytes) }()
				w := newStallWriter(wire{httptest.NewRecorder(), server})
				n, err := w.Write(make([]byte, 3*chunkBytes))
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("got %v, want %v", err, os.ErrDeadlineExceeded)
				}
				if n != reads*chunkBytes {
					t.Errorf("wrote %d bytes, want %d", n, reads*chunkBytes)
				}
				if got := time.Since(began); got != stallTime {
					t.Errorf("the reply ended after %s, want %s", got, stallTime)
				}
			})
		})
	}
}

// A reader that needs long for the whole, but not for a chunk, gets the reply.
func TestSlowReaderGetsReply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		go func() {
			for range 5 {
				time.Sleep(stallTime - time.Second)
				_, _ = io.CopyN(io.Discard, client, chunkBytes)
			}
		}()
		n, err := newStallWriter(wire{httptest.NewRecorder(), server}).Write(make([]byte, 5*chunkBytes))
		if n != 5*chunkBytes || err != nil {
			t.Errorf("got %d bytes, %v; want %d", n, err, 5*chunkBytes)
		}
	})
}

// A client that stops in the middle of its body ends its statement. A statement that runs long after its body does not
// end.
func TestStalledBodyEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		defer client.Close()
		body := &stallReader{server, http.NewResponseController(wire{httptest.NewRecorder(), server})}
		go func() { _, _ = client.Write([]byte("INSERT")) }()
		chunk := make([]byte, 10)
		if n, err := body.Read(chunk); n != 6 || err != nil {
			t.Fatalf("got %d bytes, %v", n, err)
		}
		time.Sleep(2 * stallTime)
		go func() { _, _ = client.Write([]byte(" INTO")) }()
		if n, err := body.Read(chunk); n != 5 || err != nil {
			t.Fatalf("after a pause between two reads: got %d bytes, %v", n, err)
		}
		_, err := body.Read(chunk)
		var exception *chdb.Exception
		if !errors.As(err, &exception) || exception.Code != codeSocketTimeout || !strings.Contains(exception.Message, "nothing of the body for 1m0s") {
			t.Errorf("got %v", err)
		}
	})
}

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
			h.ServeHTTP(wire{httptest.NewRecorder(), server}, r)
		}()
		_, _ = client.Write([]byte("SELECT"))
		reply, err := io.ReadAll(client)
		if err != nil || !strings.HasPrefix(string(reply), "Code: 209. DB::Exception: The client sent nothing of the body for 1m0s (SOCKET_TIMEOUT)") {
			t.Errorf("got %q, %v", reply, err)
		}
	})
}
