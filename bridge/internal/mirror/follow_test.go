package mirror

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// follower is a listener that also writes down how far it was told.
type follower struct {
	listener
	seen []string // beside how many pods it was told of by then
}

func (f *follower) PodSeen(key, resourceVersion string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, fmt.Sprintf("%s at %s, %d", key, resourceVersion, len(f.pods)))
}

func TestAFollowerIsToldHowFarItWasTold(t *testing.T) {
	m, client := start(t)
	f := &follower{}
	stop, err := m.Notify(klog.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	pods := client.CoreV1().Pods("shop")
	at := func(version string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.ResourceVersion = version }
	}
	for _, pod := range []*corev1.Pod{podOf("a", at("7")), podOf("b", at("8"))} {
		if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pods.Update(t.Context(), podOf("a", at("9")), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"shop/a at 7, 1", "shop/b at 8, 2", "shop/a at 9, 3"}
	f.eventually(t, "it has seen all three", func() bool { return slices.Equal(f.seen, want) })
}

func TestOneThatComesLaterIsToldOfAll(t *testing.T) {
	m, _ := start(t, podOf("a", func(*corev1.Pod) {}), podOf("b", func(*corev1.Pod) {}),
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}})
	l := &listener{}
	m.Tell(l)
	slices.Sort(l.pods)
	if !slices.Equal(l.pods, []string{"shop/a", "shop/b"}) || !slices.Equal(l.nodes, []string{"n1"}) {
		t.Errorf("%v, %v", l.pods, l.nodes)
	}
}
