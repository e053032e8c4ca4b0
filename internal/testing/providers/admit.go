package providers

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The API key for all simulators, and the secret with which requests and callbacks are signed.
const (
	Key    = "simulator-key"
	Secret = "simulator-secret"
)

// Fill replaces the placeholders URL, KEY and SECRET in a simulator's description file, and returns the result.
func Fill(description, url string) string {
	return strings.NewReplacer("URL", url, "KEY", Key, "SECRET", Secret).Replace(description)
}

// mostBody is the largest request body that is read, in bytes.
const mostBody = 64 << 10

// admit checks the key of a request, and its signature over time, method, path and body. The signed time may differ
// from `now` by at most a minute. If a check fails, admit sends an error reply and returns false. Otherwise it returns
// true, and the body can be read again.
func admit(w http.ResponseWriter, r *http.Request, now time.Time) bool {
	refuse := func(status int, code string) bool {
		Reply(w, status, map[string]string{"code": code})
		return false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	stamp := r.Header.Get("X-Timestamp")
	at, timeErr := strconv.ParseInt(stamp, 10, 64)
	age := now.Sub(time.Unix(at, 0)).Abs()
	want := sign(stamp + "." + r.Method + "." + r.URL.EscapedPath() + "." + string(body))
	switch {
	case err != nil:
		return refuse(http.StatusRequestEntityTooLarge, "TOO_LARGE")
	case r.Header.Get("X-Api-Key") != Key:
		return refuse(http.StatusUnauthorized, "BAD_KEY")
	case !hmac.Equal([]byte(want), []byte(r.Header.Get("X-Signature"))) || timeErr != nil || age > time.Minute:
		return refuse(http.StatusUnauthorized, "BAD_SIGNATURE")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}

func sign(text string) string {
	mac := hmac.New(sha256.New, []byte(Secret))
	_, _ = mac.Write([]byte(text)) // never fails
	return hex.EncodeToString(mac.Sum(nil))
}

// Sign sets the headers of a simulator's callback, including the signature over time and body.
func Sign(header http.Header, body []byte, now time.Time) {
	stamp := strconv.FormatInt(now.Unix(), 10)
	header.Set("Content-Type", "application/json")
	header.Set("X-Timestamp", stamp)
	header.Set("X-Signature", sign(stamp+"."+string(body)))
}
