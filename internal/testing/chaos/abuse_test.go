package chaos

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"vayu/internal/sleep"
)

// Abuse is one account of the sandbox (the world of test keys) that sends as much as possible. It sends
// batches of equal orders, queries of hourly history, and top-ups with webhooks at an endpoint that never
// answers. It also opens idle connections to each instance.
type Abuse struct {
	URL, Key  string
	Cities    []string
	Instances []string // host:port

	statuses [6]atomic.Int64 // by the first digit of the status; 0 for calls without a reply
}

const (
	abuseBatches  = 40 // batches in flight
	abuseRows     = 10_000
	abuseHistory  = 16  // history queries in flight
	abuseTopups   = 8   // in flight
	abuseWebhooks = 30  // more than the plan allows in the sandbox
	abuseIdle     = 400 // connections to each instance: more than allowed for one address
)

// Run sends until ctx ends, and returns once nothing is in flight. It fails only if it cannot listen for
// webhooks.
func (a *Abuse) Run(ctx context.Context) error {
	hanging, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening for webhooks that are never answered: %w", err)
	}
	defer func() { _ = hanging.Close() }()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: abuseBatches + abuseHistory + abuseTopups}}
	defer client.CloseIdleConnections()
	for n := range abuseWebhooks {
		a.send(ctx, client, http.MethodPost, "/v1/webhooks", fmt.Sprintf(`{"url":"https://%s/%d","events":[%q]}`, hanging.Addr(), n, fired))
	}
	var all sync.WaitGroup
	defer all.Wait()
	repeat := func(inFlight int, do func(n int)) {
		var calls atomic.Int64
		for range inFlight {
			all.Go(func() {
				for ctx.Err() == nil {
					do(int(calls.Add(1)))
				}
			})
		}
	}
	batch := equalOrders()
	repeat(abuseBatches, func(int) { a.send(ctx, client, http.MethodPost, "/v1/recharge/batch", batch) })
	repeat(abuseTopups, func(n int) {
		a.send(ctx, client, http.MethodPost, "/v1/wallet/topups", fmt.Sprintf(`{"amount":100,"method":"upi","ref_id":"abuse-%d"}`, n))
	})
	repeat(abuseHistory, func(n int) {
		from := time.Now().AddDate(0, 0, -31-n%300)
		a.send(ctx, client, http.MethodGet, fmt.Sprintf("/v1/aqi?city=%s&interval=hour&from=%s&to=%s", a.Cities[n%len(a.Cities)],
			from.Format(time.DateOnly), from.AddDate(0, 0, 30).Format(time.DateOnly)), "")
	})
	all.Go(func() { a.idle(ctx) })
	return nil
}

// equalOrders is a batch whose orders all have the same reference.
func equalOrders() string {
	order := `{"mobile":"9000000001","operator":"auto","amount":10,"type":"prepaid","ref_id":"abuse"}`
	return `{"recharges":[` + strings.Repeat(order+",", abuseRows-1) + order + `]}`
}

// idle keeps connections to each instance open.
func (a *Abuse) idle(ctx context.Context) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}} // other than the balancer's
	var open []net.Conn
	defer func() {
		for _, conn := range open {
			_ = conn.Close()
		}
	}()
	for _, address := range a.Instances {
		for range abuseIdle {
			if conn, err := dialer.DialContext(ctx, "tcp", address); err == nil {
				open = append(open, conn)
			}
		}
	}
	sleep.For(ctx, time.Hour)
}

func (a *Abuse) send(ctx context.Context, client *http.Client, method, path, body string) {
	status := 0
	defer func() { a.statuses[status/100].Add(1) }()
	r, err := http.NewRequestWithContext(ctx, method, a.URL+path, strings.NewReader(body))
	if err != nil {
		return
	}
	r.Header.Set("Authorization", "Bearer "+a.Key)
	r.Header.Set("Content-Type", "application/json")
	reply, err := client.Do(r)
	if err != nil {
		return
	}
	defer func() { _ = reply.Body.Close() }()
	_, _ = io.Copy(io.Discard, reply.Body)
	status = reply.StatusCode
}

// Summary reports how many calls were answered with 2xx, 4xx and 5xx, and how many were not.
func (a *Abuse) Summary() string {
	return fmt.Sprintf("%d calls with 2xx, %d with 4xx, %d with 5xx, %d without a reply", a.statuses[2].Load(), a.statuses[4].Load(), a.statuses[5].Load(), a.statuses[0].Load())
}
