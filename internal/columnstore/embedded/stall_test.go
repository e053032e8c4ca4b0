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

	"vayu/internal/columnstore/embedded/access"
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
