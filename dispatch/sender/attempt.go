package sender

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"vayu/dispatch/webhook"
	"vayu/schema"
)

// stages in their order; an attempt holds indices of it.
var stages = [...]schema.Stage{schema.StageDNS, schema.StageConnect, schema.StageTLS, schema.StageWrite, schema.StageWait}

const (
	dns = int32(iota)
	connect
	handshake
	write
	wait
)

// attempt follows one request through net/http. Its methods are called by other
// goroutines, and those of a dial even after the request has ended, so that it
// belongs to its one request for good.
type attempt struct {
	sign     func(now time.Time) (string, error)
	header   http.Header
	value    [1]string // of the signature
	cancel   context.CancelFunc
	slow     atomic.Bool // the time is over
	unsigned atomic.Bool // sign has failed
	// dialed is how far a dial has come. Its connection may go to another request,
	// and this one be served by a connection that became free: then sent says how far
	// it has come, and dialed nothing.
	dialed, sent atomic.Int32
}

func (a *attempt) expire() {
	a.slow.Store(true)
	a.cancel()
}

func (a *attempt) stage() schema.Stage {
	if sent := a.sent.Load(); sent > 0 {
		return stages[sent]
	}
	return stages[a.dialed.Load()]
}

// request makes the request, without its signature.
func (a *attempt) request(ctx context.Context, p Post) (*http.Request, error) {
	u, err := url.Parse(p.URL)
	if err != nil {
		return nil, err
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:           a.getConn,
		ConnectStart:      a.connectStart,
		TLSHandshakeStart: a.handshakeStart,
		GotConn:           a.gotConn,
		WroteRequest:      a.wroteRequest,
	})
	// It would parse the URL again; it is the one way to a request with a context
	// that makes no copy.
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "", bytes.NewReader(p.Body))
	if err != nil {
		return nil, err
	}
	req.URL, req.Host = u, u.Host
	a.header = make(http.Header, len(p.Header)+2)
	a.header["User-Agent"] = nil // none unless there is one in p.Header; net/http would add its own
	maps.Copy(a.header, p.Header)
	delete(a.header, "Idempotency-Key")
	delete(a.header, "X-Idempotency-Key")
	req.Header = a.header
	return req, nil
}

func (a *attempt) getConn(string)              { a.sent.Store(0) }
func (a *attempt) connectStart(string, string) { a.dialed.Store(connect) }
func (a *attempt) handshakeStart()             { a.dialed.Store(handshake) }

// gotConn signs. net/http calls it in the goroutine of RoundTrip, between taking
// a connection and handing the request to the goroutine that writes; that hand-over
// orders this write to the header before all reads of it. It is called again for
// a second connection only when the goroutine that wrote to the first has ended.
//
// What cannot be signed is not written: the connection is closed before the
// hand-over, since that goroutine does not look whether the request is wanted
// still. The end of the context keeps net/http from trying another connection.
func (a *attempt) gotConn(info httptrace.GotConnInfo) {
	a.sent.Store(write)
	if a.sign == nil {
		return
	}
	value, err := a.sign(time.Now())
	if err != nil {
		a.unsigned.Store(true)
		a.cancel()
		_ = info.Conn.Close() // closed it is, whatever it says
		return
	}
	a.value[0] = value
	a.header[webhook.Header] = a.value[:]
}

func (a *attempt) wroteRequest(info httptrace.WroteRequestInfo) {
	if info.Err == nil {
		a.sent.Store(wait)
	}
}
