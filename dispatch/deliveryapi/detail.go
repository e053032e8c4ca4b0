package deliveryapi

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"vayu/dispatch/delivery"
	"vayu/dispatch/webhook"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Reply is the reply to a request for one delivery.
type Reply struct {
	Status string `json:"status"`
	Data   Detail `json:"data"`
}

// Detail is a delivery with the URL of its webhook and its attempts, the oldest first.
type Detail struct {
	schema.Delivery

	URL      string    `json:"url"`
	Attempts []Attempt `json:"attempts"`
}

// Attempt is one HTTP request (POST) of a delivery. HTTPStatus is nil if there was no response. Error is the reason of
// a failure; "" for an attempt with a 2xx response. Body is the first KiB of the response, in which invalid UTF-8
// becomes U+FFFD.
type Attempt struct {
	Number     int          `json:"attempt"`
	At         string       `json:"at"`
	DurationMS float64      `json:"duration_ms"`
	Stage      schema.Stage `json:"stage"`
	HTTPStatus *int         `json:"http_status"`
	Error      string       `json:"error"`
	Body       string       `json:"response_body"`
	// Sent is the header of the request, without Host and Content-Length. It is empty if the request was not written.
	// Received is the header of the response, sorted by name, at most 2 KiB; values that may be secret are masked.
	// ReceivedCut is true if the header was longer.
	Sent        []Header `json:"request_headers"`
	Received    []Header `json:"response_headers"`
	ReceivedCut bool     `json:"response_headers_truncated"`
}

// Header is one field of an HTTP header.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func detailed(q sqlstore.Querier, c *httpapi.Call, id string, now time.Time) (d Detail, err error) {
	if !schema.IsID(id) {
		return d, delivery.ErrNotFound
	}
	row := q.QueryRow("SELECT "+shownColumns+", w.url FROM "+shownTables+` JOIN webhook w ON w.id = d.webhook_id
		WHERE d.id = $1 AND d.account_id = $2 AND d.mode = $3`, id, c.Account, c.World.String())
	d.Delivery, err = scanShown(now, &d.URL)(row)
	if errors.Is(err, sql.ErrNoRows) {
		return d, delivery.ErrNotFound
	}
	if err != nil {
		return d, fmt.Errorf("reading a delivery: %w", err)
	}
	d.Attempts, err = sqlstore.All(q, scanAttempt(&d.Delivery, c.World), `SELECT number, at, duration, stage, http_status, error, body, signature, header FROM attempt
		WHERE delivery_id = $1 ORDER BY number`, id)
	if d.Attempts == nil {
		d.Attempts = []Attempt{}
	}
	return d, err
}

// scanAttempt returns a function that reads an attempt of a delivery.
func scanAttempt(d *schema.Delivery, world schema.World) func(sqlstore.Scanner) (Attempt, error) {
	return func(row sqlstore.Scanner) (Attempt, error) {
		var a Attempt
		var at, micros int64
		var status int
		var body []byte
		var signature, received string
		err := row.Scan(&a.Number, &at, &micros, &a.Stage, &status, &a.Error, &body, &signature, &received)
		a.At, a.DurationMS = schema.FormatMillis(at), milliseconds(micros)
		if status != 0 {
			a.HTTPStatus = &status
		}
		a.Body = strings.ToValidUTF8(string(body), "\uFFFD")
		a.Sent = []Header{}
		if a.Stage == schema.StageWrite || a.Stage == schema.StageWait || a.Stage == schema.StageStatus {
			a.Sent = sent(delivery.Header(d.EventID, d.ID, a.Number, world), signature)
		}
		a.Received, a.ReceivedCut = parsed(received)
		return a, err
	}
}

// sent returns the header of a request, sorted by name. `signature` is "" if an older service stored the attempt.
func sent(header http.Header, signature string) []Header {
	if signature != "" {
		header[webhook.Header] = []string{signature}
	}
	fields := []Header{}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		fields = append(fields, Header{Name: name, Value: header[name][0]})
	}
	return fields
}

// parsed returns the fields of a stored header, and whether the header was cut when it was stored.
func parsed(text string) (fields []Header, cut bool) {
	fields = []Header{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok {
			return fields, true
		}
		fields = append(fields, Header{Name: name, Value: value})
	}
	return fields, false
}
