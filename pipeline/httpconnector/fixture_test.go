package httpconnector

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"vayu/pipeline/httpconnector/answer"
	"vayu/schema"
)

// testShape defines the test provider: an order and an enquiry.
var testShape = Shape{
	Calls: map[string]CallShape{
		"order": {Required: true, Fields: []string{"reference", "amount", "paise", "note", "gift"}, Answer: answer.Shape{
			"status": {Required: true, Values: []string{"done", "waiting", "nothing"}, Defaults: []string{"waiting"}},
			"ref":    {},
		}},
		"ask": {Fields: []string{"reference", "theirs", "note"}, Identifiers: []string{"reference", "theirs"}, Answer: answer.Shape{
			"status": {Required: true, Values: []string{"done", "waiting", "nothing"}},
		}},
		"list": {List: true, Separate: true, Answer: answer.Shape{"price": {Required: true}, "text": {}}},
	},
	Callback: answer.Shape{"reference": {Required: true}, "status": {Required: true, Values: []string{"done"}}},
}

var secrets = map[string]string{"KEY": "k-secret{reference}", "SECRET": "0123456789abcdef"}

func environment(name string) (string, bool) {
	v, ok := secrets[name]
	return v, ok
}

func parse(text string) (*Description, error) {
	return Parse(Source{File: "shop.yaml", Text: []byte(text), Env: environment, ReadFile: os.ReadFile}, testShape, nil)
}

// simple is a description without its url.
const simple = `
name: shop
url: URL
timeout: 2m
calls:
  order:
    path: /orders
    body: {ref: "{reference}", amount: "{amount}"}
    answer: {status: status, ref: id}
  ask:
    method: GET
    path: /orders/{reference}
    answer: {status: status}
    by-http:
      404: {status: nothing}
  list:
    method: GET
    path: /list
    items: data.items
    answer: {price: price, text: text}
`

var values = map[string]any{"reference": "r1", "amount": schema.Paise(19950), "paise": int64(19950), "note": "", "gift": true}

// open creates a client of a description with a URL.
func open(t *testing.T, text, url string, o Options) *Client {
	t.Helper()
	d, err := parse(strings.Replace(text, "URL", url, 1))
	if err != nil {
		t.Fatal(err)
	}
	c := New(d, o)
	t.Cleanup(c.Close)
	return c
}

// replyServer starts a provider with one constant answer.
func replyServer(t *testing.T, status int, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// rawServer is a provider whose answers a test writes byte by byte.
type rawServer struct {
	net.Listener
	mu       sync.Mutex
	requests []string // method and path, in the order in which they came
	late     chan struct{}
}

// expire ends the context of the current call.
func (w *rawServer) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.late:
	default:
		close(w.late)
	}
}

// manualDeadline is a context that the provider ends.
type manualDeadline struct {
	context.Context
	late <-chan struct{}
}

func (p manualDeadline) Done() <-chan struct{} { return p.late }

func (p manualDeadline) Err() error {
	select {
	case <-p.late:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// startRawServer serves every connection with serve, which reads requests with next.
func startRawServer(t *testing.T, serve func(w *rawServer, number int, conn net.Conn, in *bufio.Reader)) *rawServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &rawServer{Listener: l, late: make(chan struct{})}
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); all.Wait() })
	all.Go(func() {
		for number := 0; ; number++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				serve(w, number, conn, bufio.NewReader(conn))
			})
		}
	})
	return w
}

func (w *rawServer) url() string { return "http://" + w.Addr().String() }

// next reads a request; false after the last.
func (w *rawServer) next(in *bufio.Reader) bool {
	r, err := http.ReadRequest(in)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, r.Body)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, r.Method+" "+r.URL.Path)
	return true
}

func (w *rawServer) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.requests)
}

// reset closes a connection with RST, so that the other side notices at once.
func reset(conn net.Conn) {
	_ = conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

const done = "HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n{\"status\":\"done\"}"

var noon = time.Date(2026, 11, 18, 12, 26, 40, 0, time.UTC)
