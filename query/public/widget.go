package public

import (
	_ "embed" // widget.js
	"time"

	"vayu/internal/httpapi"
)

const scriptType = "text/javascript"

// A page without an encoding of its own would read the script in another one.
const scriptContent = scriptType + "; charset=utf-8"

//go:embed widget.js
var script []byte

// widget returns the handler of the script that shows the air of a city in a page of any origin.
func widget() handler {
	resp := httpapi.Ready(script, time.Time{})
	resp.Type, resp.Cache = []string{scriptContent}, lasting(time.Hour)
	return func(*request) (httpapi.Response, uint32, error) { return resp, 0, nil }
}
