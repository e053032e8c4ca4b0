package record

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"

	"vayu/ingest"
)

// bom is the byte order mark, which .NET servers write before JSON.
var bom = []byte("\xef\xbb\xbf")

// Decode decodes a body. For a JSON body that is invalid, lacks the records, or has an error message of the API, the
// error is an [*ingest.BatchError]. The error quotes the API's message, from which `clean` has removed secrets.
func (r *Records) Decode(body []byte, clean func(string) string) (Reply, error) {
	if r.format != formatJSON {
		first, rest, _ := bytes.Cut(bytes.TrimSpace(body), []byte{'\n'})
		header := r.format == formatCSV && r.table.HasHeader()
		return Reply{raw: string(body), body: body, empty: len(first) == 0 || header && len(rest) == 0}, nil
	}
	return r.decode(body, clean)
}

// decode does the same as [Records.Decode], for JSON.
func (r *Records) decode(body []byte, clean func(string) string) (Reply, error) {
	body = bytes.TrimPrefix(body, bom)
	if !utf8.Valid(body) {
		return Reply{}, ingest.BadReplyf("the reply is not UTF-8")
	}
	// jsontext limits the nesting and rejects duplicate names. gjson, which reads the values below, does neither.
	if !jsontext.Value(body).IsValid() {
		return Reply{}, ingest.BadReplyf("the reply is not JSON, is cut off, or has a duplicate name")
	}
	root := gjson.ParseBytes(body)
	if r.fault != "" {
		if message := root.Get(r.fault); message.Exists() {
			return Reply{}, ingest.BadReplyf("the API reports an error: %.200q", clean(scalar(message)))
		}
	}
	records := root.Get(r.At)
	if r.Shape == ShapeList || r.Shape == ShapeTable {
		if !records.IsArray() {
			return Reply{}, ingest.BadReplyf("the reply has no list %q (key records)", r.At)
		}
	} else if !records.IsObject() {
		return Reply{}, ingest.BadReplyf("the reply has no object %q (key records)", r.At)
	}
	return Reply{root: root, records: records, raw: records.Raw}, nil
}
