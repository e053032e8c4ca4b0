package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Load sends the requests of the flows at fixed rates. The mutex `gate` is locked while the clock leaps or the service
// restarts, so that no request is in flight then.
type Load struct {
	gate  sync.RWMutex
	flows []*Flow
}

// Flow is one kind of request.
type Flow struct {
	Name string
	Rate float64 // per second
	Do   func(ctx context.Context, n int) error

	mu    sync.Mutex
	sent  int
	again int // requests that were answered after a retry
	times []time.Duration
	fails map[string]int // by error
}

// Run sends requests until ctx ends, and returns when no request is in flight.
func (l *Load) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, f := range l.flows {
		f.fails = map[string]int{}
		all.Go(func() {
			tick := time.NewTicker(time.Duration(float64(time.Second) / f.Rate))
			defer tick.Stop()
			slots := make(chan struct{}, 64)
			for n := 0; ; n++ {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				l.gate.RLock()
				slots <- struct{}{}
				all.Go(func() {
					defer l.gate.RUnlock()
					f.once(n)
					<-slots
				})
			}
		})
	}
	all.Wait()
}

// once sends an idempotent request. It retries the request if the service is busy or unavailable, or if the service has
// closed the idle connection because the clock leapt. Clients of the service should do the same.
func (f *Flow) once(n int) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	began, tries := time.Now(), 1
	err := f.Do(ctx, n)
	for ; ctx.Err() == nil && err != nil && retryable.MatchString(err.Error()); tries++ {
		if pause(ctx, time.Second) == nil {
			err = f.Do(ctx, n)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent++
	f.times = append(f.times, time.Since(began))
	if err != nil {
		f.fails[err.Error()]++
	} else if tries > 1 {
		f.again++
	}
}

var retryable = regexp.MustCompile(`: (429|5..) |querying the engine|: EOF$|connection reset`)

// Counts returns the number of requests, the number of requests that succeeded after a retry, and the number of failed
// requests. It also returns the text of one of the errors.
func (f *Flow) Counts() (sent, again, failed int, example string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for text, n := range f.fails {
		failed, example = failed+n, text
	}
	return f.sent, f.again, failed, example
}

// Percentiles returns the median and the 99th percentile of the durations of the requests, including their retries.
func (f *Flow) Percentiles() (p50, p99 time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Sort(f.times); len(f.times) == 0 {
		return 0, 0
	}
	return f.times[len(f.times)/2], f.times[len(f.times)*99/100]
}

// flows returns the kinds of requests that Load sends. It omits test events, because a command fires them.
func flows(s *Service, cities []string) []*Flow {
	city := func(n int) string { return url.QueryEscape(cities[n%len(cities)]) }
	mobiles := []string{"9000000001", "9000000002", "9000000003", "9000000006", "9000000009"}
	accounts := []string{"001122330001", "001122330002", "001122330003", "001122330007"}
	return []*Flow{
		{Name: "current answer", Rate: 20, Do: func(ctx context.Context, n int) error {
			return s.Call(ctx, http.MethodGet, "/v1/aqi?city="+city(n), "", nil)
		}},
		{Name: "past answer", Rate: 2, Do: func(ctx context.Context, n int) error {
			day := s.clock.Now().Add(-24 * time.Hour).Format(time.DateOnly)
			return s.Call(ctx, http.MethodGet, "/v1/aqi?city="+city(n)+"&date="+day, "", nil)
		}},
		{Name: "pushed readings", Rate: 1, Do: func(ctx context.Context, n int) error {
			at := s.clock.Now().Add(-30 * time.Minute).Truncate(time.Hour).Add(30 * time.Minute).Format(time.RFC3339)
			return s.Call(ctx, http.MethodPost, "/v1/readings", fmt.Sprintf(`{"readings":[{"station":"soak-%d","parameter":"pm25","value":%d.5,
				"unit":"ug/m3","at":%q,"latitude":28.6%d,"longitude":77.2}]}`, n%10, 20+n%200, at, n%10), nil)
		}},
		{Name: "recharge", Rate: 3, Do: func(ctx context.Context, n int) error {
			err := s.Call(ctx, http.MethodPost, "/v1/recharge", fmt.Sprintf(`{"mobile":%q,"operator":"auto","amount":10,"type":"prepaid","ref_id":"soak-%d"}`,
				mobiles[n%len(mobiles)], n), nil)
			if err != nil && strings.Contains(err.Error(), `"transaction_id"`) {
				return nil // the service has accepted the recharge, which failed while the call waited
			}
			return err
		}},
		{Name: "verification", Rate: 2, Do: func(ctx context.Context, n int) error {
			return s.Call(ctx, http.MethodPost, "/v1/bank/verify", fmt.Sprintf(`{"account_number":%q,"ifsc":"SBIN0000691","name":"Asha Rao","ref_id":"soak-%d"}`,
				accounts[n%len(accounts)], n), nil)
		}},
		{Name: "analyst SQL", Rate: 0.5, Do: func(ctx context.Context, _ int) error {
			_, err := s.Query(ctx, "analyst", "SELECT city, avg(aqi), count() FROM city_hour GROUP BY city ORDER BY 2 DESC LIMIT 10")
			return err
		}},
	}
}
