package readinglog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/segmentio/kafka-go"

	"vayu/internal/testing/fixture"
	"vayu/schema"
	"vayu/schema/air"
)

// each runs a test with a broker in this process and with a real one.
func each(t *testing.T, do func(t *testing.T, s *stores)) {
	t.Helper()
	for _, name := range []string{"fake", "real"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(t, newStores(t, brokersOf(t, name == "real")))
		})
	}
}

func TestReadingsAreStoredOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *stores) {
		i := s.start(t)
		var messages []kafka.Message
		for n := range 300 {
			messages = append(messages, s.reading("roof-1", float64(n), n+1))
		}
		s.send(t, messages...)
		s.send(t, messages[:10]...) // again
		s.await(t, 300)
		fixture.Eventually(t, "all are consumed", func() bool { return fixture.MetricValue(t, i.metrics, "vayu_readinglog_consumed_total") == 310 })
		if rows, sum := s.stored(t, schema.Live); rows != 300 || sum != 299*300/2 {
			t.Errorf("got %d readings with the sum %v, want 300 and %d", rows, sum, 299*300/2)
		}
		var id, source string
		if err := s.db.Conn().QueryRow(t.Context(), "SELECT any(station), any(source) FROM "+s.databases[schema.Live]+".reading").Scan(&id, &source); err != nil {
			t.Fatal(err)
		}
		if want := air.OwnStationID(s.account.ID, "roof-1"); id != want || source != "push" {
			t.Errorf("got the station %s of the source %s, want %s of push", id, source, want)
		}
	})
}

// Every form of a body and of an account is accepted.
func TestForms(t *testing.T) {
	t.Parallel()
	s := newStores(t, brokersOf(t, false))
	s.start(t)
	at := time.Now().Truncate(time.Minute).Add(-time.Hour).UTC()
	one := func(n int) string {
		return fmt.Sprintf(`{"station":"roof-1","parameter":"pm25","value":%d,"unit":"ug/m3","at":%q,"latitude":28.6315,"longitude":77.2167}`, n, at.Add(time.Duration(n)*time.Minute).Format(time.RFC3339))
	}
	header := kafka.Header{Key: "account", Value: []byte(s.account.ID)}
	lines := kafka.Header{Key: "content-type", Value: []byte("application/x-ndjson")}
	table := kafka.Header{Key: "content-type", Value: []byte("text/csv")}
	for n, m := range []kafka.Message{
		{Headers: []kafka.Header{header}, Value: []byte(one(0))},
		{Key: []byte(s.account.ID), Value: []byte(one(1))},
		{Headers: []kafka.Header{header}, Value: []byte(strings.ReplaceAll(one(2), ",", ",\n"))},
		{Headers: []kafka.Header{header}, Value: []byte(one(3) + "\n" + one(4) + "\n")},
		{Headers: []kafka.Header{header}, Value: []byte(`{"readings": [` + one(5) + `,` + one(6) + `]}`)},
		{Headers: []kafka.Header{header, lines}, Value: []byte(one(7))},
		{Headers: []kafka.Header{header, table}, Value: []byte("station,parameter,value,unit,at\nroof-1,pm25,8,ug/m3," + at.Add(8*time.Minute).Format(time.RFC3339))},
	} {
		m.Headers = append(m.Headers, kafka.Header{Key: "other", Value: []byte{byte(n)}})
		s.send(t, m)
	}
	s.await(t, 9)
	s.send(t, kafka.Message{Headers: []kafka.Header{header, {Key: "mode", Value: []byte("sandbox")}}, Value: []byte(one(0))})
	fixture.Eventually(t, "the sandbox has its own", func() bool { rows, _ := s.stored(t, schema.Sandbox); return rows == 1 })
	if rows, sum := s.stored(t, schema.Live); rows != 9 || sum != 36 {
		t.Errorf("got %d readings with the sum %v, want 9 and 36", rows, sum)
	}
}

// A record with a rejected reading goes to the dead topic, unchanged. Its other readings
// and those of later records are stored.
func TestRejectedRecordsGoToDeadTopic(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *stores) {
		s.start(t)
		good := s.reading("roof-1", 1, 5)
		account := good.Headers
		mixed := string(s.reading("roof-1", 2, 6).Value) + "\n" + `{"station":"roof-1","parameter":"pm25","value":-3,"unit":"ug/m3","at":"2020-01-01T00:00:00Z"}` + "\n7\n"
		missing := strings.Replace(string(s.reading("roof-1", 3, 7).Value), `"value":3`, `"value":null`, 1)
		for _, m := range []kafka.Message{
			{Key: []byte("roof-1"), Value: good.Value},
			{Key: []byte("roof-1"), Value: good.Value, Headers: []kafka.Header{{Key: "account", Value: []byte("acc_01JBQ5W8Z9X2M7K4T6R3P1N0HG")}}},
			{Key: []byte("roof-1"), Value: good.Value, Headers: append(account[:1:1], kafka.Header{Key: "mode", Value: []byte("test")})},
			{Key: []byte("roof-1"), Value: []byte(`{"readings":[`), Headers: account},
			{Key: []byte("roof-1"), Value: good.Value, Headers: append(account[:1:1], kafka.Header{Key: "content-type", Value: []byte("text/html")})},
			{Key: []byte("roof-1"), Value: nil, Headers: account},
			{Key: []byte("roof-1"), Value: []byte(mixed), Headers: account},
			{Key: []byte("roof-1"), Value: []byte(missing), Headers: account},
			good,
		} {
			s.send(t, m)
		}
		s.await(t, 2)
		var got [][]string
		for _, m := range s.dead(t, 7) {
			got = append(got, []string{header(m, "dead-reason"), header(m, "dead-field"), header(m, "dead-row"), header(m, "dead-rows"), header(m, "dead-topic")})
			if header(m, "dead-reason") == "ancient_time" && string(m.Value) != mixed {
				t.Errorf("the dead letter is %q, want the record", m.Value)
			}
		}
		topic := s.settings.Topic
		want := [][]string{
			{"unknown_account", "account", "-1", "1", topic},
			{"unknown_account", "account", "-1", "1", topic},
			{"bad_line", "mode", "-1", "1", topic},
			{"bad_reply", "", "-1", "1", topic},
			{"bad_reply", "", "-1", "1", topic},
			{"bad_line", "", "0", "1", topic},
			{"ancient_time", "at", "1", "2", topic},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("dead letters (-want +got):\n%s", diff)
		}
	})
}

// Runs and rejected values are in the journal. A reading leads to its run.
func TestRunsAreRecorded(t *testing.T) {
	t.Parallel()
	s := newStores(t, brokersOf(t, false))
	i := s.start(t)
	s.send(t, s.reading("roof-1", 1, 1), s.reading("roof-1", 2, 2), s.reading("roof/1", 3, 3))
	s.await(t, 2)
	fixture.Eventually(t, "all are consumed", func() bool { return fixture.MetricValue(t, i.metrics, "vayu_readinglog_consumed_total") == 3 })
	i.stop()
	var messages uint32
	var stored, rejected, readings uint64
	var raw string
	row := s.db.Conn().QueryRow(t.Context(), `SELECT requests, stored, rejected['no_station'], (SELECT any(raw) FROM `+s.ops+`.rejected FINAL),
		(SELECT count() FROM `+s.databases[schema.Live]+`.reading FINAL JOIN `+s.ops+`.source_run FINAL USING (run, source))
		FROM `+s.ops+`.source_run FINAL WHERE source = 'push' AND outcome = 'done' AND body_sha256 != ''`)
	if err := row.Scan(&messages, &stored, &rejected, &raw, &readings); err != nil {
		t.Fatal(err)
	}
	got := []uint64{uint64(messages), stored, rejected, readings}
	if diff := cmp.Diff([]uint64{3, 2, 1, 2}, got); diff != "" {
		t.Errorf("messages, stored, rejected, readings with a run (-want +got):\n%s", diff)
	}
	if !strings.Contains(raw, `"value":3`) {
		t.Errorf("the rejected text is %q, want the record", raw)
	}
}

// The offsets of a batch are committed after it is stored, whatever fails.
func TestFailedBatchesAreRepeated(t *testing.T) {
	t.Parallel()
	s := newStores(t, brokersOf(t, false))
	first := s.start(t)
	first.store.after.Store(true) // stored, and the reply is lost
	for n := range 50 {
		s.send(t, s.reading("roof-1", float64(n), n+1))
	}
	fixture.Eventually(t, "a batch has failed", func() bool { return first.store.failures.Load() > 2 })
	first.store.before.Store(true)
	s.send(t, s.reading("roof-2", 1000, 1))
	first.stop()
	if got := fixture.MetricValue(t, first.metrics, "vayu_readinglog_consumed_total"); got != 0 {
		t.Errorf("%v messages were committed without a successful insert", got)
	}
	second := s.start(t)
	s.await(t, 51)
	fixture.Eventually(t, "all are consumed", func() bool { return fixture.MetricValue(t, second.metrics, "vayu_readinglog_consumed_total") == 51 })
	if rows, sum := s.stored(t, schema.Live); rows != 51 || sum != 49*50/2+1000 {
		t.Errorf("got %d readings with the sum %v, want 51 and %d", rows, sum, 49*50/2+1000)
	}
}

// Instances come and go while messages arrive. Every reading is stored once.
func TestRebalanceLosesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *stores) {
		instances := []*instance{s.start(t)}
		sent := 0
		for round := range 4 {
			var messages []kafka.Message
			for range 100 {
				sent++
				messages = append(messages, s.reading(fmt.Sprintf("roof-%d", sent%17), float64(sent), sent))
			}
			s.send(t, messages...)
			if round < 2 {
				instances = append(instances, s.start(t))
			} else {
				instances[round-2].stop()
			}
		}
		s.await(t, uint64(sent))
		if _, sum := s.stored(t, schema.Live); sum != float64(sent*(sent+1)/2) {
			t.Errorf("the sum is %v, want %d", sum, sent*(sent+1)/2)
		}
	})
}
