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

// stages has the stages of a request in their order. The constants below are indexes into stages.
var stages = [...]schema.Stage{schema.StageDNS, schema.StageConnect, schema.StageTLS, schema.StageWrite, schema.StageWait}

const (
	dns = int32(iota)
	connect
	handshake
	write
	wait
)

// attempt records the stage of one request and signs it. Goroutines of net/http call its methods. The goroutine that
// dials may call methods even after the request has ended, so an attempt is never reused.
type attempt struct {
	sign     func(now time.Time) (string, error)
	header   http.Header
	value    [1]string // value of the signature header
	cancel   context.CancelFunc
	slow     atomic.Bool // the attempt reached its timeout
	unsigned atomic.Bool // the function `sign` has failed
	// `dialed` is the stage that the dial for this request has reached. `sent` is 0 until the request has a connection,
	// and then the stage of the request. If `sent` is not 0, `dialed` does not count: the request may use a pooled
	// connection that became idle during the dial.
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
	// The parsed URL is set below, so the constructor gets none. Unlike Request.WithContext, this constructor sets the
	// context without copying the request.
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "", bytes.NewReader(p.Body))
	if err != nil {
		return nil, err
	}
	req.URL, req.Host = u, u.Host
	a.header = make(http.Header, len(p.Header)+2)
	a.header["User-Agent"] = nil // suppresses the default of net/http
	maps.Copy(a.header, p.Header)
	delete(a.header, "Idempotency-Key")
	delete(a.header, "X-Idempotency-Key")
	req.Header = a.header
	return req, nil
}

func (a *attempt) getConn(string)              { a.sent.Store(0) }
func (a *attempt) connectStart(string, string) { a.dialed.Store(connect) }
func (a *attempt) handshakeStart()             { a.dialed.Store(handshake) }

// gotConn signs the request. net/http calls it in the goroutine of RoundTrip, once the request has a connection. Then
// RoundTrip passes the request over a channel to another goroutine, which writes it. So that goroutine sees the
// header that gotConn has set. net/http calls gotConn again for another connection only after the writing goroutine
// of the first connection has ended.
//
// If signing fails, nothing may be written. So gotConn closes the connection, because the writing goroutine ignores a
// cancellation. gotConn also cancels the context, so that net/http does not retry.
func (a *attempt) gotConn(info httptrace.GotConnInfo) {
	a.sent.Store(write)
	if a.sign == nil {
		return
	}
	value, err := a.sign(time.Now())
	if err != nil {
		a.unsigned.Store(true)
		a.cancel()
		_ = info.Conn.Close() // the error does not matter
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
