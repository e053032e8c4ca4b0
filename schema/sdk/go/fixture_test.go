package vayu_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"

	vayu "vayu.example/sdk"
)

// received is a request that the fake service got.
type received struct {
	method, uri, body string
	header            http.Header
}

// service is a fake service, and a client whose connections are pipes. So the clock of a bubble can skip all waits.
type service struct {
	vayu.Client
	requests []received
}

// run runs a test in a bubble with a fake service. handle answers the request with the number count, from 0.
func run(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, count int), test func(t *testing.T, s *service)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		conns := make(pipes)
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			s.requests = append(s.requests, received{r.Method, r.RequestURI, string(body), r.Header})
			handle(w, r, len(s.requests)-1)
		})}
		go func() { _ = server.Serve(conns) }()
		transport := &http.Transport{DialContext: conns.dial}
		s.BaseURL, s.Key, s.HTTP = "http://vayu.test/", vayu.StaticKey("sk_test_1"), &http.Client{Transport: transport}
		test(t, s)
		transport.CloseIdleConnections()
		_ = server.Close()
	})
}

// pipes is a listener whose connections are pipes in memory.
type pipes chan net.Conn

func (p pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p pipes) Accept() (net.Conn, error) {
	conn, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "vayu.test"} }

func reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// problem replies with an error of the contract.
func problem(w http.ResponseWriter, status int, code string) {
	reply(w, status, fmt.Sprintf(`{"status":"error","error":{"code":%q,"message":"It failed.","field":"city","request_id":"req_1",`+
		`"retryable":%t,"suggestions":["Delhi"]}}`, code, status == 429 || status >= 502))
}

// wantProblem fails the test unless err is an error of the contract.
func wantProblem(t *testing.T, err error, status int, code string) *vayu.ProblemError {
	t.Helper()
	p, ok := errors.AsType[*vayu.ProblemError](err)
	if !ok {
		t.Fatalf("got error %v, want one of the type %T", err, p)
	}
	if p.Status != status || p.Code != code {
		t.Fatalf("got status %d and %s, want %d and %s", p.Status, p.Code, status, code)
	}
	return p
}
