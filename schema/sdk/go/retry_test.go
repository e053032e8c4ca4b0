package vayu_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	vayu "vayu.example/sdk"
)

var delhi = vayu.Call{Query: url.Values{"city": {"Delhi"}}}

const record = `{"status":"success","city":"Delhi","aqi":337}`

func TestCallsWaitForRetryAfter(t *testing.T) {
	run(t, func(w http.ResponseWriter, _ *http.Request, count int) {
		if count == 0 {
			w.Header().Set("Retry-After", "7")
			problem(w, 429, "rate_limited")
			return
		}
		reply(w, 200, record)
	}, func(t *testing.T, s *service) {
		began := time.Now()
		var got struct{ AQI int }
		if err := s.Get(t.Context(), "/v1/aqi", delhi, &got); err != nil || got.AQI != 337 {
			t.Fatalf("%+v %v", got, err)
		}
		if waited := time.Since(began); waited != 7*time.Second {
			t.Errorf("waited %s", waited)
		}
	})
}

func TestCallsBackOffExponentially(t *testing.T) {
	run(t, func(w http.ResponseWriter, _ *http.Request, count int) {
		if count < 3 {
			problem(w, 502+count, "service_unavailable")
			return
		}
		reply(w, 200, record)
	}, func(t *testing.T, s *service) {
		began := time.Now()
		if err := s.Get(t.Context(), "/v1/aqi", delhi, nil); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited < 1750*time.Millisecond || waited > 3500*time.Millisecond || len(s.requests) != 4 {
			t.Errorf("waited %s in %d attempts", waited, len(s.requests))
		}
	})
}

func TestRetriesEnd(t *testing.T) {
	for name, c := range map[string]struct {
		retries, attempts int
	}{"after the last attempt": {2, 3}, "by default": {0, 5}, "at once": {-1, 1}} {
		t.Run(name, func(t *testing.T) {
			run(t, func(w http.ResponseWriter, _ *http.Request, _ int) { problem(w, 503, "service_unavailable") },
				func(t *testing.T, s *service) {
					s.Retries = c.retries
					wantProblem(t, s.Get(t.Context(), "/v1/aqi", delhi, nil), 503, "service_unavailable")
					if len(s.requests) != c.attempts {
						t.Errorf("%d attempts, want %d", len(s.requests), c.attempts)
					}
				})
		})
	}
}

func TestCallsDoNotWaitForTheNextMonth(t *testing.T) {
	run(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "86400")
		problem(w, 429, "quota_exceeded")
	}, func(t *testing.T, s *service) {
		p := wantProblem(t, s.Get(t.Context(), "/v1/aqi", delhi, nil), 429, "quota_exceeded")
		if p.RetryAfter != 24*time.Hour || len(s.requests) != 1 {
			t.Errorf("%s, %d requests", p.RetryAfter, len(s.requests))
		}
	})
}

func TestRetriesOfPost(t *testing.T) {
	const failed = `{"status":"failed","transaction_id":"txn_1","error":{"code":"operator_network_error","message":"It failed.","retryable":true}}`
	for name, c := range map[string]struct {
		path     string
		call     vayu.Call
		first    func(w http.ResponseWriter) // the first reply
		attempts int
		ok       bool
	}{
		"with a random key":        {"/v1/wallet/topups", vayu.Call{}, func(w http.ResponseWriter) { problem(w, 503, "service_unavailable") }, 2, true},
		"with a key":               {"/v1/wallet/topups", vayu.Call{IdempotencyKey: "mine"}, func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }, 2, true},
		"of a recharge":            {"/v1/recharge", vayu.Call{}, func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }, 2, true},
		"of a failed recharge":     {"/v1/recharge", vayu.Call{}, func(w http.ResponseWriter) { reply(w, 502, failed) }, 1, false},
		"that is not idempotent":   {"/v1/sessions", vayu.Call{}, func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }, 1, false},
		"that was not idempotent,": {"/v1/sessions", vayu.Call{}, func(w http.ResponseWriter) { problem(w, 429, "rate_limited") }, 2, true},
		"with an invalid body":     {"/v1/wallet/topups", vayu.Call{}, func(w http.ResponseWriter) { problem(w, 400, "invalid_request") }, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(w http.ResponseWriter, _ *http.Request, count int) {
				if count == 0 {
					c.first(w)
					return
				}
				reply(w, 200, `{"status":"success"}`)
			}, func(t *testing.T, s *service) {
				err := s.Post(t.Context(), c.path, c.call, map[string]any{"amount": 500.29}, nil)
				if (err == nil) != c.ok || len(s.requests) != c.attempts {
					t.Fatalf("%v, %d attempts", err, len(s.requests))
				}
				key := s.requests[0].header.Get("Idempotency-Key")
				if takes := c.path == "/v1/wallet/topups"; takes != (key != "") || c.call.IdempotencyKey != "" && key != "mine" {
					t.Errorf("the key is %q", key)
				}
				for _, r := range s.requests {
					if r.header.Get("Idempotency-Key") != key || r.body != `{"amount":500.29}` {
						t.Errorf("a retry has the key %q and the body %s", r.header.Get("Idempotency-Key"), r.body)
					}
				}
			})
		})
	}
}

func TestRepliesThatAreCutAreRetried(t *testing.T) {
	run(t, func(w http.ResponseWriter, _ *http.Request, count int) {
		if count == 0 {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(record[:10]))
			panic(http.ErrAbortHandler)
		}
		reply(w, 200, record)
	}, func(t *testing.T, s *service) {
		if err := s.Get(t.Context(), "/v1/aqi", delhi, nil); err != nil || len(s.requests) != 2 {
			t.Errorf("%v, %d requests", err, len(s.requests))
		}
	})
}

func TestTimeouts(t *testing.T) {
	run(t, func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() }, func(t *testing.T, s *service) {
		s.Retries, s.Timeout = -1, time.Second
		began := time.Now()
		err := s.Get(t.Context(), "/v1/aqi", delhi, nil)
		if lost, ok := errors.AsType[*vayu.TransportError](err); !ok {
			t.Errorf("got error %v, want one of the type %T", err, lost)
		} else if !lost.Timeout() {
			t.Errorf("got error %v, want a timeout", err)
		}
		if got := time.Since(began); got != time.Second {
			t.Errorf("got the error after %s, want 1 s", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s.Retries, s.Timeout = 1000, 7*time.Second
		if err := s.Get(ctx, "/v1/aqi", delhi, nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 61*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestProblems(t *testing.T) {
	run(t, func(w http.ResponseWriter, _ *http.Request, count int) {
		if count == 0 {
			problem(w, 404, "location_not_found")
			return
		}
		w.Header().Set("X-Request-Id", "req_of_a_proxy")
		http.Error(w, "<html>", http.StatusTeapot)
	}, func(t *testing.T, s *service) {
		p := wantProblem(t, s.Get(t.Context(), "/v1/aqi", delhi, nil), 404, "location_not_found")
		if p.Field != "city" || p.RequestID != "req_1" || len(p.Suggestions) != 1 || !strings.Contains(p.Error(), "It failed. (location_not_found") {
			t.Errorf("%+v", p)
		}
		if p := wantProblem(t, s.Get(t.Context(), "/v1/aqi", delhi, nil), 418, "unexpected_reply"); p.RequestID != "req_of_a_proxy" || p.Retryable {
			t.Errorf("%+v", p)
		}
	})
}

func TestCallsWaitWhileTheRateLimitIsUsedUp(t *testing.T) {
	run(t, func(w http.ResponseWriter, _ *http.Request, count int) {
		w.Header().Set("RateLimit-Policy", `"air";q=10;w=1`)
		w.Header().Set("RateLimit", `"air";r=0;t=1`)
		if count > 1 {
			w.Header().Set("RateLimit", `"air";r=9;t=1`)
		}
		reply(w, 200, record)
	}, func(t *testing.T, s *service) {
		began := time.Now()
		for i, want := range []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond, 200 * time.Millisecond} {
			if err := s.Get(t.Context(), "/v1/aqi", delhi, nil); err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(began); waited != want {
				t.Errorf("call %d was made after %s, want %s", i, waited, want)
			}
		}
	})
}
