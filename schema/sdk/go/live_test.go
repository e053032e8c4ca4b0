package vayu_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	vayu "vayu.example/sdk"
)

func flush(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

func TestLiveContinuesAfterTheLastMessage(t *testing.T) {
	run(t, func(w http.ResponseWriter, r *http.Request, count int) {
		w.Header().Set("Content-Type", "text/event-stream")
		switch count {
		case 0:
			flush(w, "retry: 5000\n\nid: 1\r\nevent: air\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n: comment\n\nid: 2\nevent: air\ndata: {\"cut\"")
			panic(http.ErrAbortHandler)
		case 1:
			flush(w, "id: 3\rdata: 2\r\r")
			<-r.Context().Done() // a dead connection
		case 2:
			problem(w, 503, "service_unavailable")
		default:
			flush(w, "event: reset\ndata: {}\n\n")
		}
	}, func(t *testing.T, s *service) {
		s.Retries = -1
		began := time.Now()
		var got []vayu.Message
		for m, err := range s.Live(t.Context(), vayu.LiveOptions{Kinds: []string{"air", "event"}}) {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, m); m.Event == "reset" {
				break
			}
		}
		if len(got) != 3 || got[0].Event != "air" || string(got[0].Data) != "{\"a\":\n1}" || got[1].Event != "message" || got[2].ID != "3" {
			t.Errorf("%+v", got)
		}
		for i, want := range []string{"", "1", "3", "3"} {
			if last := s.requests[i].header.Get("Last-Event-ID"); last != want || s.requests[i].uri != "/v1/live?kinds=air%2Cevent" {
				t.Errorf("request %d: %s after %q, want %q", i, s.requests[i].uri, last, want)
			}
		}
		// Three reconnections after 5 s, and 45 s of silence.
		if took := time.Since(began); took != time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}

func TestLiveEnds(t *testing.T) {
	run(t, func(w http.ResponseWriter, r *http.Request, count int) {
		if count == 0 {
			problem(w, 403, "scope_missing")
			return
		}
		flush(w, "data: 1\n\n")
		<-r.Context().Done()
	}, func(t *testing.T, s *service) {
		for _, err := range s.Live(t.Context(), vayu.LiveOptions{}) {
			wantProblem(t, err, 403, "scope_missing")
		}
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		for m, err := range s.Live(ctx, vayu.LiveOptions{LastEventID: "7"}) {
			if n++; n == 1 {
				if m.ID != "7" || string(m.Data) != "1" {
					t.Errorf("%+v", m)
				}
				cancel()
			} else if !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		}
		if n != 2 {
			t.Errorf("%d messages", n)
		}
		cancel()
	})
}
