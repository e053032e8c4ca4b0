package sender

import (
	"net/http"
	"strconv"
)

// read returns the first KiB of a body. It reads on, up to 64 KiB, because the connection can be reused only after the
// end of the body. It ignores read errors, because the status has already decided the result of the attempt.
func (s *Sender) read(resp *http.Response) []byte {
	defer resp.Body.Close()
	if resp.Body == http.NoBody || resp.StatusCode == http.StatusSwitchingProtocols {
		return nil
	}
	buffer := s.buffers.Get().(*[4096]byte)
	defer s.buffers.Put(buffer)
	var kept []byte
	for left := maxBody; left > 0; {
		n, err := resp.Body.Read(buffer[:min(len(buffer), left)])
		kept = append(kept, buffer[:min(n, keptBody-len(kept))]...)
		if left -= n; err != nil {
			break
		}
	}
	return kept
}

// refusal returns the error text of an attempt that failed because the status is not 2xx.
func refusal(status int) string {
	text := "the receiver answered " + strconv.Itoa(status)
	if name := http.StatusText(status); name != "" {
		text += " " + name
	}
	if status >= 300 && status < 400 {
		text += "; redirects are not followed"
	}
	return text
}
