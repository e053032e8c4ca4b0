package sender

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// want is the expected part of a result. Empty stages match any.
type want struct {
	status int
	text   string
	body   string
	stages []schema.Stage
}

func (w want) check(t *testing.T, got Result) {
	t.Helper()
	if got.Status != w.status || got.Error != w.text || string(got.Body) != w.body {
		t.Errorf("got %d %q %.80q, want %d %q %.80q", got.Status, got.Error, got.Body, w.status, w.text, w.body)
	}
	if w.status != 0 {
		w.stages = []schema.Stage{schema.StageStatus}
	}
	if len(w.stages) > 0 && !slices.Contains(w.stages, got.Stage) {
		t.Errorf("the stage is %q, want %q", got.Stage, w.stages)
	}
	if got.Slow {
		t.Error("the attempt was slow")
	}
	if got.SentAt.IsZero() || got.Duration <= 0 {
		t.Errorf("sent at %v, for %v", got.SentAt, got.Duration)
	}
}

var (
	sending = []schema.Stage{schema.StageWrite, schema.StageWait}
	waiting = []schema.Stage{schema.StageWait}
)

// gzipBomb is 8 MiB of zeros.
func gzipBomb(t *testing.T) string {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	for range 8 {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

func TestMaliciousReceivers(t *testing.T) {
	t.Parallel()
	ca := fixture.NewAuthority(t)
	long := strings.Repeat("x", 8<<10)
	zipped := gzipBomb(t)
	for name, c := range map[string]struct {
		handle func(net.Conn)
		want   want
	}{
		"closes at once":         {func(net.Conn) {}, want{text: textCut, stages: []schema.Stage{schema.StageTLS}}},
		"closes after reading":   {func(c net.Conn) { _ = readRequest(bufio.NewReader(c)) }, want{text: textClosed, stages: waiting}},
		"closes in the header":   {closing("HTTP/1.1 200 OK\r\nA: b"), want{text: textClosed, stages: waiting}},
		"endless body":           {flooding("HTTP/1.1 200 OK\r\n\r\n", long, nil), want{status: 200, body: long[:1024]}},
		"endless body of a 500":  {flooding("HTTP/1.1 500 Oh\r\n\r\n", long, nil), want{status: 500, body: long[:1024], text: "the receiver answered 500 Internal Server Error"}},
		"endless chunks":         {flooding("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "2000\r\n"+long+"\r\n", nil), want{status: 200, body: long[:1024]}},
		"chunks of one byte":     {flooding("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", nil), want{status: 200, body: long[:1024]}},
		"endless trailer":        {flooding("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", "A: "+long+"\r\n", nil), want{status: 200, body: "x"}},
		"endless headers":        {flooding("HTTP/1.1 200 OK\r\n", "X: "+long+"\r\n", nil), want{text: textHeader, stages: sending}},
		"endless tiny headers":   {flooding("HTTP/1.1 200 OK\r\n", "A:\r\nB:\r\n", nil), want{text: textHeader, stages: sending}},
		"an endless header":      {flooding("HTTP/1.1 200 OK\r\nA: ", long, nil), want{text: textHeader, stages: sending}},
		"an endless status line": {flooding("HTTP/1.1 200 ", long, nil), want{text: textHeader, stages: sending}},
		"a flood of 100":         {flooding("", "HTTP/1.1 100 Continue\r\n\r\n", nil), want{text: textHeader, stages: sending}},
		"a flood of 103":         {flooding("", "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n", nil), want{text: textHeader, stages: sending}},
		"gzip bomb": {
			answering(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(zipped), zipped)),
			want{status: 200, body: zipped[:1024]},
		},
		"101":              {closing("HTTP/1.1 101 Switching Protocols\r\n\r\nx"), want{status: 101, text: "the receiver answered 101 Switching Protocols"}},
		"101 with upgrade": {flooding("HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", long, nil), want{status: 101, text: "the receiver answered 101 Switching Protocols"}},
		"a body too short": {closing("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"), want{status: 200, body: "short"}},
		"a body too long":  {answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nshortand more"), want{status: 200, body: "short"}},
		"two lengths":      {closing("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nshort"), want{text: textNoHTTP, stages: waiting}},
		"a length below 0": {closing("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nshort"), want{text: textNoHTTP, stages: waiting}},
		"broken chunks":    {closing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokzz"), want{status: 200, body: "ok"}},
		"no HTTP":          {closing("SSH-2.0-OpenSSH_9.6\r\n\r\n"), want{text: textNoHTTP, stages: waiting}},
		"HTTP/9":           {closing("HTTP/9 200 OK\r\n\r\n"), want{text: textNoHTTP, stages: waiting}},
		"status 000":       {closing("HTTP/1.1 000 Nil\r\n\r\n"), want{text: textNoHTTP, stages: waiting}},
		"status 099":       {closing("HTTP/1.1 099 Low\r\n\r\n"), want{text: textNoHTTP, stages: waiting}},
		"status 2000":      {closing("HTTP/1.1 2000 High\r\n\r\n"), want{text: textNoHTTP, stages: waiting}},
		"status 999":       {closing("HTTP/1.1 999 \x00\x1b[31m\r\n\r\n"), want{status: 999, text: "the receiver answered 999"}},
		"a bad header":     {closing("HTTP/1.1 200 OK\r\nno colon\r\n\r\n"), want{text: textNoHTTP, stages: waiting}},
		"410":              {closing("HTTP/1.1 410 Gone\r\n\r\n"), want{status: 410, text: "the receiver answered 410 Gone"}},
		"429": {
			closing("HTTP/1.1 429 Slow Down\r\nRetry-After: 86400\r\nContent-Length: 4\r\n\r\nlate"),
			want{status: 429, text: "the receiver answered 429 Too Many Requests", body: "late"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := tlsConfig(ca.Server())
			if name == "closes at once" {
				config = nil
			}
			url := "https://" + listen(t, "127.0.0.1:0", config, c.handle)
			c.want.check(t, newSender(t, Config{Roots: ca.Pool()}).Send(t.Context(), testPost(url)))
		})
	}
}

func closing(text string) func(net.Conn) {
	return func(conn net.Conn) {
		if readRequest(bufio.NewReader(conn)) == nil {
			_, _ = io.WriteString(conn, text)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	ca := fixture.NewAuthority(t)
	for _, status := range []string{"301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"} {
		url := "https://" + listen(t, "127.0.0.1:0", tlsConfig(ca.Server()),
			answering("HTTP/1.1 "+status+"\r\nLocation: http://169.254.169.254/latest/meta-data/\r\nContent-Length: 0\r\n\r\n"))
		var dialed []string
		s := newSender(t, Config{Roots: ca.Pool(), Control: func(_, address string, _ syscall.RawConn) error {
			dialed = append(dialed, "https://"+address)
			return nil
		}})
		got := s.Send(t.Context(), testPost(url))
		if !strings.HasPrefix(got.Error, "the receiver answered "+status+"; redirects") || got.OK() {
			t.Errorf("got %d, %q", got.Status, got.Error)
		}
		if !slices.Equal(dialed, []string{url}) {
			t.Errorf("dialed %q, want only %q", dialed, url)
		}
	}
}

// A receiver cannot cost more memory than the sender reads of its reply. The figures
// are of both sides, which share the process.
func TestMaliciousReceiversUseLittleMemory(t *testing.T) {
	ca := fixture.NewAuthority(t)
	long := strings.Repeat("x", 32<<10)
	for name, head := range map[string]struct{ head, text string }{
		"headers":      {"HTTP/1.1 200 OK\r\n", "X: " + long + "\r\n"},
		"tiny headers": {"HTTP/1.1 200 OK\r\n", strings.Repeat("A:\r\n", 8<<10)},
		"names":        {"HTTP/1.1 200 OK\r\n", numbered(8 << 10)},
		"body":         {"HTTP/1.1 200 OK\r\n\r\n", long},
		"1xx":          {"", strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 1000)},
	} {
		t.Run(name, func(t *testing.T) {
			written := make(chan int, 1)
			url := "https://" + listen(t, "127.0.0.1:0", tlsConfig(ca.Server()), flooding(head.head, head.text, written))
			s := newSender(t, Config{Roots: ca.Pool()})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s.Send(t.Context(), testPost(url))
			runtime.ReadMemStats(&after)
			if got, most := after.TotalAlloc-before.TotalAlloc, uint64(8<<20); got > most {
				t.Errorf("an attempt takes %d bytes of memory, want at most %d", got, most)
			}
			// Unread bytes are in buffers of the kernel, on both sides.
			if got := <-written; got > 64<<20 {
				t.Errorf("the receiver could write %d bytes", got)
			}
		})
	}
}

func numbered(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "x%d:\r\n", i)
	}
	return text.String()
}
