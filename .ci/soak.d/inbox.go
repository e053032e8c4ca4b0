package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Inbox receives and counts deliveries. It verifies signatures and their times as docs/webhooks.md describes.
type Inbox struct {
	clock *Clock

	mu       sync.Mutex
	secrets  map[string][]string // by path: the newest first, at most two
	got      map[string]int      // deliveries by the id of the event
	invalid  int
	repeated int
}

// Trust adds a secret of the webhook with a path. The previous secret of the webhook stays valid until the next call.
func (in *Inbox) Trust(path, secret string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	all := append([]string{secret}, in.secrets[path]...)
	in.secrets[path] = all[:min(len(all), 2)]
}

// ServeHTTP receives a delivery, as POST of the JSON event (docs/webhooks.md). It answers 200, or 400 for an invalid
// signature or body. A delivery whose body cannot be read is not counted, because the sender repeats the delivery.
func (in *Inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	in.mu.Lock()
	secrets := in.secrets[r.URL.Path]
	in.mu.Unlock()
	var event struct{ ID string }
	genuine := verify(r.Header.Get("X-SERVICE-Signature"), body, secrets, in.clock.Now()) && json.Unmarshal(body, &event) == nil
	in.mu.Lock()
	defer in.mu.Unlock()
	if !genuine {
		in.invalid++
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if in.got[event.ID]++; in.got[event.ID] > 1 {
		in.repeated++
	}
}

// Received reports whether the event with this id has arrived, with a valid signature.
func (in *Inbox) Received(id string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.got[id] > 0
}

// Counts returns the numbers of events, repeated deliveries, and deliveries with an invalid signature or body.
func (in *Inbox) Counts() (events, repeated, invalid int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.got), in.repeated, in.invalid
}

func verify(header string, body []byte, secrets []string, now time.Time) bool {
	stamp, signatures, _ := strings.Cut(header, ",")
	stamp, _ = strings.CutPrefix(stamp, "t=")
	at, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || now.Sub(time.Unix(at, 0)).Abs() > 5*time.Minute {
		return false
	}
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(stamp + "."))
		mac.Write(body)
		want := "v1=" + hex.EncodeToString(mac.Sum(nil))
		for one := range strings.SplitSeq(signatures, ",") {
			if hmac.Equal([]byte(one), []byte(want)) {
				return true
			}
		}
	}
	return false
}
