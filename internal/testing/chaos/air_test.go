package chaos

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// Air requests current air, as clients behind a proxy do: each request once, with a timeout of five
// seconds.
type Air struct {
	URL      string
	Accounts []Account
	Cities   []string
	Rate     float64 // requests per second

	mu       sync.Mutex
	requests []request
}

// request is one request and its result.
type request struct {
	at, done time.Time
	ok       bool
	refused  bool      // because the quota is exhausted
	updated  time.Time // time of the newest reading in the answer
	answered bool      // by an instance: with a status that it counts
	fault    string
}

// Limits of the requests.
const (
	answerTimeout = 5 * time.Second
	maxInFlight   = 2000
)

// Run sends requests until ctx ends.
func (a *Air) Run(ctx context.Context) {
	client := &http.Client{Timeout: answerTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: maxInFlight, IdleConnTimeout: time.Minute}}
	defer client.CloseIdleConnections()
	pace(ctx, a.Rate, maxInFlight, func(n int) { a.request(context.WithoutCancel(ctx), client, n) }, func(int) {
		now := time.Now()
		a.note(request{at: now, done: now, fault: "too many in flight"})
	})
}

func (a *Air) request(ctx context.Context, client *http.Client, n int) {
	q := request{at: time.Now()}
	defer func() {
		q.done = time.Now()
		a.note(q)
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL+"/v1/aqi?city="+url.QueryEscape(a.Cities[n%len(a.Cities)]), nil)
	if err != nil {
		q.fault = err.Error()
		return
	}
	r.Header.Set("Authorization", "Bearer "+a.Accounts[n%len(a.Accounts)].Key)
	reply, err := client.Do(r)
	if err != nil {
		q.fault = err.Error()
		return
	}
	defer func() { _ = reply.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(reply.Body, 1<<20))
	if err != nil {
		q.fault = err.Error()
		return
	}
	q.ok, q.refused = reply.StatusCode == http.StatusOK, reply.StatusCode == http.StatusTooManyRequests
	q.answered = reply.Header.Get("X-Request-Id") != ""
	if !q.ok {
		q.fault = reply.Status + " " + string(body[:min(len(body), 200)])
		return
	}
	var air struct{ Updated time.Time }
	if err := json.Unmarshal(body, &air); err != nil {
		q.ok, q.fault = false, err.Error()
	}
	q.updated = air.Updated
}

func (a *Air) note(q request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, q)
}

// AirStats are the requests of a period and their results.
type AirStats struct {
	Requests, Failed int
	Answered         int           // by an instance, which counts it
	Refused          int           // of those, because of the quota
	FirstRefused     time.Time     // when the first of these was sent; zero for none
	Gap              time.Duration // the longest time without a successful answer
	P50, P99         time.Duration // latency of successful answers; 0 for none
	Faults           map[string]int
}

// Availability is the percentage of requests that were answered with 200.
func (a AirStats) Availability() float64 {
	if a.Requests == 0 {
		return 0
	}
	return 100 * float64(a.Requests-a.Failed) / float64(a.Requests)
}

// Between returns the statistics from one moment to another.
func (a *Air) Between(from, to time.Time) AirStats {
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := AirStats{Faults: map[string]int{}}
	var latencies []time.Duration
	last := from
	for _, q := range a.requests { // in the order in which they ended
		if q.ok && q.done.After(from) && q.done.Before(to) {
			sum.Gap = max(sum.Gap, q.done.Sub(last))
			last = q.done
		}
		if q.at.Before(from) || !q.at.Before(to) {
			continue
		}
		sum.Requests++
		if q.answered {
			sum.Answered++
		}
		if q.refused {
			sum.Refused++
			if sum.FirstRefused.IsZero() || q.at.Before(sum.FirstRefused) {
				sum.FirstRefused = q.at
			}
		}
		if !q.ok {
			sum.Failed++
			sum.Faults[q.fault]++
			continue
		}
		latencies = append(latencies, q.done.Sub(q.at))
	}
	if slices.Sort(latencies); len(latencies) > 0 {
		sum.P50, sum.P99 = latencies[len(latencies)/2], latencies[len(latencies)*99/100]
	}
	return sum
}
