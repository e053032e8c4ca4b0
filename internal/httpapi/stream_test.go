package httpapi_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/schema"
)

// begin requests a path with the live key, and returns the reply with its body unread.
func begin(t *testing.T, url, accept string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+liveKey)
	req.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func serveRoutes(t *testing.T, routes ...httpapi.Route) string {
	t.Helper()
	h, err := httpapi.New(httpapi.Config{Routes: routes, Access: httpapitest.Keys{liveKey, sandboxKey}})
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + serve(t, h, plain(t))
}

func TestAStreamArrivesAsItIsWritten(t *testing.T) {
	t.Parallel()
	const lines = "application/x-ndjson"
	goOn := make(chan struct{})
	base := serveRoutes(t, httpapi.Route{Method: http.MethodGet, Path: "/v1/lines", Type: lines, Handler: func(c *httpapi.Call) (httpapi.Response, error) {
		if !c.Wants(lines) {
			return httpapi.Response{Value: map[string]string{"status": "success"}}, nil
		}
		return httpapi.Response{Type: []string{lines}, Stream: func(w httpapi.Flusher) error {
			for i := range 3 {
				if i == 1 {
					<-goOn // the client has the first line
				}
				if _, err := fmt.Fprintf(w, "{\"n\":%d}\n", i); err != nil {
					return err
				}
				if err := w.Flush(); err != nil {
					return err
				}
			}
			return nil
		}}, nil
	}})
	resp := begin(t, base+"/v1/lines", "application/json;q=0.5, application/x-ndjson")
	first := make([]byte, len(`{"n":0}`+"\n"))
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != `{"n":0}`+"\n" {
		t.Fatalf("the first line is %q, %v", first, err)
	}
	close(goOn)
	rest, err := io.ReadAll(resp.Body)
	if want := `{"n":1}` + "\n" + `{"n":2}` + "\n"; err != nil || string(rest) != want {
		t.Errorf("then came %q, %v, want %q", rest, err, want)
	}
	if got := resp.Header.Get("Content-Type"); got != lines {
		t.Errorf("the type is %q", got)
	}
	for accept, want := range map[string]string{"*/*": `{"status":"success"}`, "application/json": `{"status":"success"}`, "application/x-ndjson;q=0, */*": `{"status":"success"}`} {
		if _, body := request(t, http.MethodGet, base, "/v1/lines", "Accept", accept); body != want {
			t.Errorf("Accept %s brought %q", accept, body)
		}
	}
	if resp, _ := request(t, http.MethodGet, base, "/v1/lines", "Accept", "text/csv"); resp.StatusCode != http.StatusNotAcceptable {
		t.Errorf("Accept text/csv brought %d", resp.StatusCode)
	}
}

// TestFailedStreamIsIncomplete: a client that reads to the end gets an error.
func TestFailedStreamIsIncomplete(t *testing.T) {
	t.Parallel()
	base := serveRoutes(t, httpapi.Route{Method: http.MethodGet, Path: "/v1/lines", Handler: func(*httpapi.Call) (httpapi.Response, error) {
		return httpapi.Response{Stream: func(w httpapi.Flusher) error {
			if _, err := io.WriteString(w, "half"); err != nil {
				return err
			}
			return errors.Join(w.Flush(), errors.New("the store went away"))
		}}, nil
	}})
	resp := begin(t, base+"/v1/lines", "*/*")
	body, err := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix("half", string(body)) || err == nil { //nolint:gocritic // what has come is a beginning of it
		t.Errorf("the client got %d, %q and the error %v, want one", resp.StatusCode, body, err)
	}
}

// TestRouteWithoutKey: no key is needed, and no call is counted.
func TestRouteWithoutKey(t *testing.T) {
	t.Parallel()
	base := serveRoutes(t, httpapi.Route{Method: http.MethodPost, Path: "/callbacks/{name}", NoAuth: true, Handler: func(c *httpapi.Call) (httpapi.Response, error) {
		if c.Header.Get("X-Secret") != "good" {
			return httpapi.Response{}, schema.NewProblem(schema.SignatureInvalid, "", "The signature does not match.")
		}
		return httpapi.Response{Value: map[string]string{"account": c.Account}}, nil
	}})
	if resp, body := request(t, http.MethodPost, base, "/callbacks/acme", "X-Secret", "good"); resp.StatusCode != 200 || body != `{"account":""}` {
		t.Errorf("got %d, %q", resp.StatusCode, body)
	}
	if resp, _ := request(t, http.MethodPost, base, "/callbacks/acme", "Authorization", ""); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a secret got %d", resp.StatusCode)
	}
}
