package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"vayu/internal/columnstore/embedded/access"
	"vayu/internal/columnstore/embedded/chdb"
	"vayu/internal/columnstore/embedded/wire"
)

// answer writes one reply: the headers together with the first byte, then data. After the first byte an
// error can only be reported inside the data.
type answer struct {
	w        *wire.Writer
	r        *http.Request
	user     access.User
	gone     func() // cancels the query, because the client has disconnected
	complete func() // ends the supervision of the query, because it has ended
	version  string
	tag      string // announces the text of an error that comes after data
	started  bool
	plain    bool // an error is sent uncompressed, because the request could not be read
	body     io.Writer
	encoder  wire.Encoder
	log      *slog.Logger
}

func (a *answer) header() http.Header { return a.w.Header() }

// start sends the headers of a successful reply. `length` is the size of the whole body, or -1 if it is unknown.
func (a *answer) start(format string, length int, n chdb.Counters, took time.Duration) {
	a.started = true
	h := a.header()
	h.Set("Content-Type", contentType(format))
	h.Set("X-ClickHouse-Format", format)
	h.Set("X-ClickHouse-Summary", summary(n, took))
	a.tag = rand.Text()[:16]
	h.Set("X-ClickHouse-Exception-Tag", a.tag)
	a.encode()
	if a.encoder == nil && length >= 0 {
		h.Set("Content-Length", strconv.Itoa(length))
	}
	a.w.WriteHeader(http.StatusOK)
}

func (a *answer) encode() {
	a.body = a.w
	var name string
	if a.encoder, name = wire.NewEncoder(a.r, a.w); a.encoder != nil {
		a.body = a.encoder
		if name != "" {
			a.header().Set("Content-Encoding", name)
		}
	}
}

// write sends data. An error means that the client has disconnected.
func (a *answer) write(data []byte) error {
	_, err := a.body.Write(data)
	if err != nil && a.gone != nil {
		a.gone()
	}
	return err
}

func (a *answer) flush() {
	if a.encoder != nil {
		_ = a.encoder.Flush()
	}
	_ = http.NewResponseController(a.w).Flush()
}

func (a *answer) finish() {
	if a.encoder != nil {
		_ = a.encoder.Close()
	}
}

// fail sends err to the client as the status and body of the reply. If the reply has begun, it
// appends err to the data as an exception block.
func (a *answer) fail(err error) {
	var e *chdb.Exception
	if !errors.As(err, &e) {
		e = &chdb.Exception{Code: chdb.CodeUnknown, Name: "UNKNOWN_EXCEPTION", Message: err.Error()}
	}
	if a.user == access.Analyst { // the engine itself runs all queries as the user default
		e.Message = strings.Replace(e.Message, "default: ", "analyst: ", 1)
	}
	e.Message += chdb.Remedy(e)
	text := fmt.Sprintf("%s (version %s (official build))\n", e.Error(), a.version)
	a.w.Until = time.Time{}
	a.log.Debug("query failed", "code", e.Code, "error", e.Message)
	if a.started {
		block := fmt.Sprintf("\r\n__exception__\r\n%s\r\n%s%d %s\r\n__exception__\r\n", a.tag, text, len(text), a.tag)
		_ = a.write([]byte(block))
		a.finish()
		return
	}
	h := a.header()
	h.Set("Content-Type", "text/plain; charset=UTF-8")
	h.Set("X-ClickHouse-Exception-Code", strconv.Itoa(int(e.Code)))
	status := status(e)
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Basic realm="ClickHouse server HTTP API"`)
	}
	if a.plain {
		a.body = a.w
	} else {
		a.encode()
	}
	a.w.WriteHeader(status)
	_ = a.write([]byte(text))
	a.finish()
}

// summary returns the header X-ClickHouse-Summary. The numbers in it are strings, as in ClickHouse.
func summary(n chdb.Counters, took time.Duration) string {
	return fmt.Sprintf(`{"read_rows":"%d","read_bytes":"%d","written_rows":"%d","written_bytes":"%d","total_rows_to_read":"0","result_rows":"%d","result_bytes":"%d","elapsed_ns":"%d"}`,
		n.Scanned, n.ScannedB, n.Written, n.WrittenB, n.Rows, n.Bytes, took.Nanoseconds())
}

func contentType(format string) string {
	switch f := strings.ToLower(format); {
	case strings.HasPrefix(f, "json") && !strings.Contains(f, "eachrow"):
		return "application/json; charset=UTF-8"
	case strings.HasPrefix(f, "json"), f == "ndjson":
		return "application/x-ndjson; charset=UTF-8"
	case strings.HasPrefix(f, "csv"):
		return "text/csv; charset=UTF-8; header=" + map[bool]string{true: "present", false: "absent"}[strings.Contains(f, "withnames")]
	case strings.HasPrefix(f, "tsv"), strings.HasPrefix(f, "tabseparated"):
		return "text/tab-separated-values; charset=UTF-8"
	case f == "native", strings.HasPrefix(f, "rowbinary"), f == "parquet", f == "arrow", f == "arrowstream", f == "orc", f == "avro", f == "msgpack":
		return "application/octet-stream"
	case f == "xml":
		return "application/xml; charset=UTF-8"
	default:
		return "text/plain; charset=UTF-8"
	}
}
