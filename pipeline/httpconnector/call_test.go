package httpconnector

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
)

// sent is a request as the provider receives it.
type sent struct {
	Line, Body string
	Header     map[string]string
}

// capture starts a provider that stores requests and answers an empty order.
func capture(t *testing.T) (url string, last func() sent) {
	t.Helper()
	got := make(chan sent, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		header := map[string]string{}
		for name, values := range r.Header {
			header[name] = strings.Join(values, "|")
		}
		got <- sent{r.Method + " " + r.RequestURI, string(body), header}
		_, _ = io.WriteString(w, `{"status":"done"}`)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() sent { return <-got }
}

// The signatures were made with openssl dgst -sha256 -hmac and -sha512 -hmac … -binary | base64.
func TestRequestBytes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want sent
	}{
		"JSON, a key and a signature": {`
auth:
  header: {name: X-Api-Key, value: "id:${KEY}"}
  hmac: {header: X-Signature, secret: "${SECRET}", over: "{timestamp}.{method}.{path}.{body}", timestamp-header: X-Time, prefix: "v1="}
calls:
  order:
    path: /v1/orders/{reference}
    query: {b: "{paise}", a: "{note}", c: "{note?}", "d e": "{amount:text} & co"}
    headers: {Idempotency-Key: "{reference}"}
    body:
      ref: "{reference}"
      amount: "{amount}"
      text: "{amount:text}"
      inside: 'Rs "{amount}" {{x}} $${KEY}'
      paise: ["{paise}", "{paise:text}", "{gift}", 7, 1.50, yes, true, null, "7"]
      note: "{note}"
      left-out: "{note?}"
      nested: {z: {y: ["{note?}"]}}
    answer: {status: status}`,
			sent{
				Line: "POST /v1/orders/r%2F1?b=19950&a=&d+e=199.50+%26+co",
				Body: `{"ref":"r/1","amount":199.5,"text":"199.50","inside":"Rs \"199.5\" {x} ${KEY}","paise":[19950,"19950",true,7,1.50,"yes",true,null,"7"],"note":"","nested":{"z":{"y":[]}}}`,
				Header: map[string]string{
					"Accept": "application/json", "User-Agent": "Vayu/1", "Content-Type": "application/json", "Idempotency-Key": "r/1",
					"X-Api-Key": "id:k-secret{reference}", "X-Time": "1795004800",
					"X-Signature": "v1=64d2eff400e071b0343599f446a8fcff1ea63e3f3cdf123db396343656f69956",
				},
			},
		},
		"a form, a user and a signature in base64": {`
auth:
  basic: {user: me, password: "${SECRET}"}
  hmac: {header: X-Hash, secret: "${SECRET}", algorithm: sha512, encoding: base64, over: "{query}|{body}|{timestamp}", timestamp-header: X-T, timestamp: milliseconds}
calls:
  order:
    method: PUT
    path: /
    query: {q: "1"}
    form: true
    body: {z: "{reference}", a: "{amount}", n: 5, note: "{note?}", é: "ü &="}
    answer: {status: status}`,
			sent{
				Line: "PUT /?q=1",
				Body: "z=r%2F1&a=199.5&n=5&%C3%A9=%C3%BC+%26%3D",
				Header: map[string]string{
					"Accept": "application/json", "User-Agent": "Vayu/1", "Content-Type": "application/x-www-form-urlencoded",
					"Authorization": "Basic bWU6MDEyMzQ1Njc4OWFiY2RlZg==", "X-T": "1795004800000",
					"X-Hash": "FkUx1iYDks5ja0GbHZyH0yALh6ki/uc7snhPiz8V8s2wNeAtbw9qZnyVu5AhSq/+qr3cPYyEQ1QragnsO2hMHg==",
				},
			},
		},
		"a GET that orders": {`
calls:
  order:
    method: GET
    path: /order
    query: {ref: "{reference}"}
    answer: {status: status}`,
			sent{Line: "GET /order?ref=r%2F1", Header: map[string]string{"Accept": "application/json", "User-Agent": "Vayu/1"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, last := capture(t)
			client := open(t, "name: shop\nurl: URL"+c.text, url, Options{Now: func() time.Time { return noon }})
			fields := maps.Clone(values)
			fields["reference"] = "r/1"
			if _, err := client.Call(t.Context(), "order", fields); err != nil {
				t.Fatal(err)
			}
			got := last()
			delete(got.Header, "Content-Length")
			if diff := cmp.Diff(c.want, got, cmp.Transformer("", func(m map[string]string) map[string]string {
				if m == nil {
					return map[string]string{}
				}
				return m
			})); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnswersAreRead(t *testing.T) {
	t.Parallel()
	mapped := strings.Replace(simple, "answer: {status: status, ref: id}", `
    ok-http: [200, 422]
    by-http: {409: {status: waiting}, 204: {status: waiting}}
    bare-http: [204]
    answer:
      status: {path: data.0.state, values: {OK: done, "1": done, "true": done, PEND: waiting}}
      ref: data.0.id`, 1)
	for name, c := range map[string]struct {
		http int
		body string
		want map[string]string // nil: it is not understood
	}{
		"text":                       {200, `{"data":[{"state":"OK","id":"a"}]}`, map[string]string{"status": "done", "ref": "a"}},
		"a number as it is written":  {200, `{"data":[{"state":1,"id":12345678901234567890.10}]}`, map[string]string{"status": "done", "ref": "12345678901234567890.10"}},
		"true":                       {200, `{"data":[{"state":true,"id":false}]}`, map[string]string{"status": "done", "ref": "false"}},
		"null is nothing":            {200, `{"data":[{"state":"OK","id":null}]}`, map[string]string{"status": "done"}},
		"an object is nothing":       {200, `{"data":[{"state":"OK","id":{}}]}`, map[string]string{"status": "done"}},
		"the mark of .NET":           {200, "\ufeff" + `{"data":[{"state":"OK"}]}`, map[string]string{"status": "done"}},
		"a status that counts":       {422, `{"data":[{"state":"PEND"}]}`, map[string]string{"status": "waiting"}},
		"a status that decides":      {409, `{"data":[{"state":"OK","id":"a"}]}`, map[string]string{"status": "waiting", "ref": "a"}},
		"a status that needs more":   {409, `conflict`, nil},
		"a status that needs none":   {204, ``, map[string]string{"status": "waiting"}},
		"an unmapped value":          {200, `{"data":[{"state":"ok"}]}`, nil},
		"no word":                    {200, `{"data":[{}]}`, nil},
		"a name that stands twice":   {200, `{"data":[{"state":"PEND","state":"OK"}]}`, nil},
		"a page":                     {200, `<html>OK</html>`, nil},
		"nothing":                    {200, ``, nil},
		"two documents":              {200, `{"data":[{"state":"OK"}]} {}`, nil},
		"cut off":                    {200, `{"data":[{"state":"OK"`, nil},
		"bytes that are no text":     {200, "{\"data\":[{\"state\":\"OK\",\"id\":\"\xff\"}]}", nil},
		"another success":            {203, `{"data":[{"state":"OK"}]}`, nil},
		"a redirection":              {302, `{"data":[{"state":"OK"}]}`, nil},
		"a refusal":                  {400, `{"data":[{"state":"OK"}]}`, nil},
		"an error that says success": {500, `{"data":[{"state":"OK"}]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := open(t, mapped, replyServer(t, c.http, c.body), Options{})
			reply, err := client.Call(t.Context(), "order", values)
			if c.want == nil {
				if err == nil || errors.Is(err, ErrNotSent) {
					t.Errorf("got %v, %v; want an error that leaves it open", reply, err)
				}
				return
			}
			if diff := cmp.Diff(c.want, reply.Fields); err != nil || diff != "" {
				t.Errorf("fields (-want +got), %v:\n%s", err, diff)
			}
		})
	}
}

func TestListsAreRead(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]map[string]string{
		`{"data":{"items":[{"price":1.50,"text":"a"},{"price":"2"}]}}`: {{"price": "1.50", "text": "a"}, {"price": "2"}},
		`{"data":{"items":[]}}`:             {},
		`{"data":{"items":{}}}`:             nil,
		`{"data":{"items":[{"text":"a"}]}}`: nil,
		`{}`:                                nil,
	} {
		client := open(t, simple, replyServer(t, 200, body), Options{})
		reply, err := client.Call(t.Context(), "list", nil)
		if (err == nil) != (want != nil) || err == nil && len(reply.Items) != len(want) || len(want) > 0 && !cmp.Equal(reply.Items, want) {
			t.Errorf("%s: got %v, %v, want %v", body, reply.Items, err, want)
		}
	}
}

// A body that cannot be built is not sent.
func TestUnfitFieldsAreNotSent(t *testing.T) {
	t.Parallel()
	url := replyServer(t, 200, `{"status":"done"}`)
	client := open(t, simple, url, Options{})
	for name, fields := range map[string]map[string]any{
		"none": nil, "empty": {"reference": ""}, "the way up": {"reference": ".."}, "of an unsupported type": {"reference": 1.5},
	} {
		if _, err := client.Call(t.Context(), "ask", fields); !errors.Is(err, ErrNotSent) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := client.Call(t.Context(), "buy", nil); !errors.Is(err, ErrNotSent) {
		t.Errorf("got %v", err)
	}
	number := open(t, strings.Replace(simple, `ref: "{reference}"`, `ref: "{reference:number}"`, 1), url, Options{})
	for reference, want := range map[string]bool{"7": true, "-1.5e3": true, "07": false, "7,": false, "7\t": false, `"7"`: false, "": false, "true": false} {
		_, err := number.Call(t.Context(), "order", map[string]any{"reference": reference, "amount": schema.Paise(100)})
		if (err == nil) != want || !want && !errors.Is(err, ErrNotSent) {
			t.Errorf("%q as a number: got %v", reference, err)
		}
	}
}

func TestCertificateIsVerified(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"status":"done"}`)
	}))
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, simple+"ca-file: "+ca, s.URL, Options{}).Call(t.Context(), "order", values); err != nil {
		t.Errorf("with its authority: %v", err)
	}
	_, err := open(t, simple, s.URL, Options{}).Call(t.Context(), "order", values)
	if !errors.Is(err, ErrNotSent) || !strings.Contains(err.Error(), "ca-file") {
		t.Errorf("without: got %v", err)
	}
	_, err = open(t, simple+"ca-file: "+ca, strings.Replace(s.URL, "127.0.0.1", "localhost", 1), Options{}).Call(t.Context(), "order", values)
	if !errors.Is(err, ErrNotSent) || !strings.Contains(err.Error(), "another host") {
		t.Errorf("under another name: got %v", err)
	}
}
