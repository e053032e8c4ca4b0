package access

import (
	"net/http"
	"testing"
)

// BenchmarkAdmit measures the cost of access per call: all checks and the counting, without a
// query. The goal is less than 400 ns and one allocation on one core.
func BenchmarkAdmit(b *testing.B) {
	for name, change := range map[string]func(*Config){
		"rates off": nil,
		"rates on":  func(c *Config) { c.Settings.Rate, c.Settings.Burst = 1e9, 1e9 },
	} {
		b.Run(name, func(b *testing.B) {
			s, key := newWithoutStore(b, change)
			c := call(key)
			b.ReportAllocs()
			for b.Loop() {
				pass, err := s.Admit(c, aqiRoute)
				if err != nil {
					b.Fatal(err)
				}
				pass.End(c, http.StatusOK)
			}
		})
		b.Run(name+", one key by all", func(b *testing.B) {
			s, key := newWithoutStore(b, change)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				c := call(key)
				for pb.Next() {
					pass, err := s.Admit(c, aqiRoute)
					if err != nil {
						b.Error(err)
						return
					}
					pass.End(c, http.StatusOK)
				}
			})
		})
	}
}
