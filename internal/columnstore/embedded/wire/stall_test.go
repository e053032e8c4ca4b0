package wire

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vayu/internal/columnstore/embedded/chdb"
)

// piped is a reply that reaches the client over a connection without a buffer.
type piped struct {
	http.ResponseWriter
	net.Conn
}

func (w piped) Write(p []byte) (int, error) { return w.Conn.Write(p) }

func limited(w http.ResponseWriter) *Writer {
	return &Writer{ResponseWriter: w, control: http.NewResponseController(w)}
}

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
				go func() { _, _ = io.CopyN(io.Discard, client, int64(reads)*ChunkBytes) }()
				w := limited(piped{httptest.NewRecorder(), server})
				n, err := w.Write(make([]byte, 3*ChunkBytes))
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("got %v, want %v", err, os.ErrDeadlineExceeded)
				}
				if n != reads*ChunkBytes {
					t.Errorf("wrote %d bytes, want %d", n, reads*ChunkBytes)
				}
				if got := time.Since(began); got != stallTime {
					t.Errorf("the reply ended after %s, want %s", got, stallTime)
				}
			})
		})
	}
}

// A reader above the least rate gets the reply, however long it takes. One below it loses the reply, although it reads
// each chunk within the time of a chunk.
func TestReplyHasLeastRate(t *testing.T) {
	t.Parallel()
	const chunks = 100
	for name, c := range map[string]struct {
		pause time.Duration // before each chunk of 64 KiB
		whole bool
	}{"above": {6 * time.Second, true}, "below": {10 * time.Second, false}, "a chunk a minute": {stallTime - time.Second, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server, client := net.Pipe()
				defer client.Close()
				read := make(chan struct{})
				go func() {
					defer close(read)
					for range chunks {
						time.Sleep(c.pause)
						if _, err := io.CopyN(io.Discard, client, ChunkBytes); err != nil {
							return
						}
					}
				}()
				n, err := limited(piped{httptest.NewRecorder(), server}).Write(make([]byte, chunks*ChunkBytes))
				if c.whole && (n != chunks*ChunkBytes || err != nil) {
					t.Errorf("got %d bytes, %v; want %d", n, err, chunks*ChunkBytes)
				}
				if !c.whole && !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("got %d bytes, %v; want %v", n, err, os.ErrDeadlineExceeded)
				}
				_ = server.Close()
				<-read
			})
		})
	}
}

// A client that stops in the middle of its body ends its statement. A statement that runs long after its body does not
// end.
func TestStalledBodyEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		defer client.Close()
		body := &reader{ReadCloser: server, control: http.NewResponseController(piped{httptest.NewRecorder(), server})}
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
		if !errors.As(err, &exception) {
			t.Fatalf("got %v, want an exception", err)
		}
		if exception.Code != CodeSocketTimeout || !strings.Contains(exception.Message, "nothing of the body for 1m0s") {
			t.Errorf("got the code %d and %q, want %d and the pause", exception.Code, exception.Message, CodeSocketTimeout)
		}
	})
}

// A client that sends a little in each minute ends its statement, as one that sends nothing.
func TestBodyHasLeastRate(t *testing.T) {
	t.Parallel()
	const chunks = 100
	for name, c := range map[string]struct {
		pause time.Duration // before each chunk of 64 KiB
		whole bool
	}{"above": {6 * time.Second, true}, "below": {10 * time.Second, false}, "a chunk a minute": {stallTime - time.Second, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server, client := net.Pipe()
				body := &reader{ReadCloser: server, control: http.NewResponseController(piped{httptest.NewRecorder(), server})}
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					defer client.Close()
					for range chunks {
						time.Sleep(c.pause)
						if _, err := client.Write(make([]byte, ChunkBytes)); err != nil {
							return
						}
					}
				}()
				n, err := io.Copy(io.Discard, body)
				if c.whole && (n != chunks*ChunkBytes || err != nil) {
					t.Errorf("got %d bytes, %v; want %d", n, err, chunks*ChunkBytes)
				}
				exception, _ := errors.AsType[*chdb.Exception](err)
				if !c.whole && (exception == nil || exception.Code != CodeSocketTimeout || !strings.Contains(exception.Message, "the least rate is 10000 bytes a second")) {
					t.Errorf("got %d bytes, %v", n, err)
				}
				_ = server.Close()
				<-sent
			})
		})
	}
}

// A reply with a deadline of its own ends then, although its reader is fast enough.
func TestReplyHasDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		read := make(chan struct{})
		go func() {
			defer close(read)
			for err := error(nil); err == nil; _, err = io.CopyN(io.Discard, client, ChunkBytes) {
				time.Sleep(6 * time.Second)
			}
		}()
		began := time.Now()
		w := limited(piped{httptest.NewRecorder(), server})
		w.Until = began.Add(2 * time.Minute)
		if n, err := w.Write(make([]byte, 100*ChunkBytes)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != 2*time.Minute {
			t.Errorf("got %d bytes in %s, %v", n, time.Since(began), err)
		}
		_, _ = server.Close(), client.Close()
		<-read
	})
}
