package api_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// The version of protoc, which is the distribution's.
var protocVersion = regexp.MustCompile(`(?m)^// .*protoc +\(?v?[0-9].*$`)

func TestGeneratingAgainGivesTheSame(t *testing.T) {
	if _, err := exec.LookPath("protoc"); err != nil {
		t.Skip("protoc is not installed")
	}
	if _, err := os.Stat("../../../proto"); err != nil {
		t.Skip("the proto files are not beside the bridge")
	}
	generated := t.TempDir()
	command := exec.Command("../../hack/generate", generated)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("hack/generate: %v\n%s", err, output)
	}
	want, got := stubs(t, generated), stubs(t, ".")
	for name, content := range want {
		if !bytes.Equal(got[name], content) {
			t.Errorf("%s is not what hack/generate makes of proto/: run it", name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is not generated any more: remove it", name)
		}
	}
}

func stubs(t *testing.T, root string) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if matched, _ := filepath.Match("*.pb.go", entry.Name()); !matched {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		files[name] = protocVersion.ReplaceAll(content, nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
