package vayu_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	vayu "vayu.example/sdk"
)

func TestARejectedKeyIsReplaced(t *testing.T) {
	run(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.Header.Get("Authorization") != "Bearer new" {
			problem(w, 401, "key_revoked")
			return
		}
		reply(w, 200, record)
	}, func(t *testing.T, s *service) {
		s.Key = func(_ context.Context, rejected string) (string, error) {
			if rejected == "old" {
				return "new", nil
			}
			return "old", nil
		}
		if err := s.Get(t.Context(), "/v1/aqi", delhi, nil); err != nil || len(s.requests) != 2 {
			t.Errorf("%v, %d requests", err, len(s.requests))
		}
		s.Key = vayu.StaticKey("old")
		wantProblem(t, s.Get(t.Context(), "/v1/aqi", delhi, nil), 401, "key_revoked")
		if len(s.requests) != 3 {
			t.Errorf("the same key was sent again")
		}
	})
}

func TestRequestsAreSigned(t *testing.T) {
	run(t, func(w http.ResponseWriter, _ *http.Request, _ int) { reply(w, 200, record) }, func(t *testing.T, s *service) {
		s.SigningSecret = "secret"
		for range 2 {
			if err := s.Get(t.Context(), "/v1/aqi", delhi, nil); err != nil {
				t.Fatal(err)
			}
		}
		call := vayu.Call{IdempotencyKey: "k", Header: http.Header{"X-Service-Version": {"2026-11-01"}}}
		if err := s.Post(t.Context(), "/v1/wallet/topups", call, map[string]int{"amount": 5}, nil); err != nil {
			t.Fatal(err)
		}
		for i, r := range s.requests {
			at := time.Now().Unix() - []int64{0, 1, 0}[i]
			mac := hmac.New(sha256.New, []byte("secret"))
			fmt.Fprintf(mac, "v2\n%d\n%s\n%s\n%s\n%s\n%s", at, r.method, r.uri, r.header.Get("Idempotency-Key"), r.header.Get("X-SERVICE-Version"), r.body)
			want := fmt.Sprintf("t=%d,v2=%s", at, hex.EncodeToString(mac.Sum(nil)))
			if got := r.header.Get("X-SERVICE-Request-Signature"); got != want {
				t.Errorf("request %d: %s, want %s", i, got, want)
			}
		}
	})
}

func TestPathsAndQueriesAreEncoded(t *testing.T) {
	run(t, func(w http.ResponseWriter, _ *http.Request, _ int) { reply(w, 200, "{}") }, func(t *testing.T, s *service) {
		for _, c := range []struct {
			path string
			call vayu.Call
			want string
		}{
			{"/v1/stations/{id}", vayu.Call{Path: map[string]string{"id": "a/b ü"}}, "/v1/stations/a%2Fb%20%C3%BC"},
			{"/v1/aqi", vayu.Call{Query: url.Values{"city": {"Navi Mumbai & more"}}}, "/v1/aqi?city=Navi+Mumbai+%26+more"},
		} {
			if err := s.Get(t.Context(), c.path, c.call, nil); err != nil {
				t.Fatal(err)
			}
			if got := s.requests[len(s.requests)-1].uri; got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		}
		if err := s.Get(t.Context(), "/v1/stations/{id}", vayu.Call{}, nil); err == nil || !strings.Contains(err.Error(), `no value of "id"`) {
			t.Errorf("a path without a value: %v", err)
		}
	})
}

func TestRepliesCanBeReadAsTheyAre(t *testing.T) {
	run(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, "PNG")
	}, func(t *testing.T, s *service) {
		resp, err := s.Response(t.Context(), "/v1/aqi/chart.png", delhi)
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour) // the timeout has ended with the header
		if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "PNG" {
			t.Errorf("%s %v", text, err)
		}
		_ = resp.Body.Close()
		call := vayu.Call{Header: http.Header{"If-None-Match": {`"1"`}}}
		if resp, err := s.Response(t.Context(), "/v1/cities", call); err != nil || resp.StatusCode != http.StatusNotModified || resp.Body.Close() != nil {
			t.Errorf("%v %v", resp, err)
		}
	})
}

func TestListsAreIterated(t *testing.T) {
	pages := []string{`{"data":["a","b"],"has_more":true,"next_cursor":"2"}`, `{"data":["c"],"has_more":false,"next_cursor":null}`}
	run(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.FormValue("cursor") == "2" {
			reply(w, 200, pages[1])
			return
		}
		reply(w, 200, pages[0])
	}, func(t *testing.T, s *service) {
		var got []string
		for entry, err := range vayu.Entries[string](t.Context(), &s.Client, "/v1/cities", vayu.Call{Query: url.Values{"limit": {"2"}}}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, entry)
		}
		if !slices.Equal(got, []string{"a", "b", "c"}) || s.requests[1].uri != "/v1/cities?cursor=2&limit=2" {
			t.Errorf("%q by %q", got, s.requests[1].uri)
		}
		for range vayu.Entries[string](t.Context(), &s.Client, "/v1/cities", vayu.Call{}) {
			break
		}
		if len(s.requests) != 3 {
			t.Errorf("%d requests: a page was not needed", len(s.requests))
		}
		n := 0
		for page, err := range vayu.Pages[struct{ Data []string }](t.Context(), &s.Client, "/v1/cities", vayu.Call{}) {
			if n += len(page.Data); err != nil {
				t.Fatal(err)
			}
		}
		if n != 3 {
			t.Errorf("%d entries", n)
		}
	})
}

func TestErrorsOfLists(t *testing.T) {
	for name, text := range map[string]string{
		"the cursor of the same page": `{"data":[],"has_more":true,"next_cursor":""}`,
		"decoding":                    `{"data":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(w http.ResponseWriter, _ *http.Request, _ int) { reply(w, 200, text) }, func(t *testing.T, s *service) {
				n := 0
				for _, err := range vayu.Entries[string](t.Context(), &s.Client, "/v1/cities", vayu.Call{}) {
					if n++; err == nil || !strings.Contains(err.Error(), name) {
						t.Errorf("the error is %v", err)
					}
				}
				if n != 1 {
					t.Errorf("%d errors", n)
				}
			})
		})
	}
}

func TestRandomKeysDiffer(t *testing.T) {
	run(t, func(w http.ResponseWriter, _ *http.Request, _ int) { reply(w, 200, "{}") }, func(t *testing.T, s *service) {
		for range 2 {
			if err := s.Post(t.Context(), "/v1/wallet/topups", vayu.Call{}, 1, nil); err != nil {
				t.Fatal(err)
			}
		}
		one, two := s.requests[0].header.Get("Idempotency-Key"), s.requests[1].header.Get("Idempotency-Key")
		if one == two || !regexp.MustCompile(`^[A-Z2-7]{26}$`).MatchString(one) {
			t.Errorf("%q and %q", one, two)
		}
	})
}
