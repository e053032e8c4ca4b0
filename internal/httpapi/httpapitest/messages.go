package httpapitest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// eventStream is the media type of Server-Sent Events. Its schema in the contract describes one message.
const eventStream = "text/event-stream"

// Messages parses Server-Sent Events (WHATWG HTML, 9.2). It returns the fields of each complete message, such as event,
// id and data, but not retry. It skips comments and messages without data.
func Messages(text []byte) (all []map[string]string) {
	for {
		block, rest, whole := bytes.Cut(text, []byte("\n\n"))
		if !whole {
			return all
		}
		text = rest
		one := map[string]string{}
		for line := range strings.SplitSeq(string(block), "\n") {
			name, value, _ := strings.Cut(line, ":")
			if name != "" && name != "retry" {
				one[name] = strings.TrimPrefix(value, " ")
			}
		}
		if one["data"] != "" {
			all = append(all, one)
		}
	}
}

func checkMessages(s *jsonschema.Schema, text []byte) (found []string) {
	for _, message := range Messages(text) {
		data, err := jsonschema.UnmarshalJSON(strings.NewReader(message["data"]))
		if err != nil {
			found = append(found, fmt.Sprintf("the data of a message is not JSON: %v: %.200s", err, message["data"]))
			continue
		}
		whole := map[string]any{}
		for name, value := range message {
			whole[name] = value
		}
		whole["data"] = data
		if err := s.Validate(whole); err != nil {
			found = append(found, fmt.Sprintf("the message %.1000v\n%s", message, explain(err)))
		}
	}
	return found
}
