#include "oracle/glpk_reference.h"

#include <glpk.h>

#include <algorithm>
#include <ctime>
#include <vector>

namespace sluice {
namespace {

double ThreadCpuSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

// The matrix as triplets, which GLPK numbers from 1.
struct Matrix {
  std::vector<int> rows = {0};
  std::vector<int> columns = {0};
  std::vector<double> values = {0};

  void Add(int row, int column, double value) {
    if (value == 0) return;
    rows.push_back(row);
    columns.push_back(column);
    values.push_back(value);
  }
};

class LinearProgram {
 public:
  LinearProgram(const FlowProblem& problem, bool has_binaries)
      : program_(glp_create_prob()) {
    glp_term_out(GLP_OFF);
    if (problem.node_count() > 0) glp_add_rows(program_, problem.node_count());
    for (NodeIndex node = 0; node < problem.node_count(); ++node) {
      const auto supply = static_cast<double>(problem.supply(node));
      glp_set_row_bnds(program_, node + 1, GLP_FX, supply, supply);
    }
    for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
      const std::vector<int> columns = AddSegments(problem, arc);
      if (has_binaries && problem.is_all_or_none(arc)) {
        AddBinary(problem, arc, columns);
      }
    }
    glp_load_matrix(program_, static_cast<int>(matrix_.rows.size()) - 1,
                    matrix_.rows.data(), matrix_.columns.data(),
                    matrix_.values.data());
  }
  LinearProgram(const LinearProgram&) = delete;
  LinearProgram& operator=(const LinearProgram&) = delete;
  ~LinearProgram() {
    glp_delete_prob(program_);
    glp_free_env();
  }

  GlpkResult Solve() {
    glp_smcp options;
    glp_init_smcp(&options);
    options.msg_lev = GLP_MSG_OFF;
    options.tol_bnd = 1e-9;
    options.tol_dj = 1e-9;
    GlpkResult result;
    const double start = ThreadCpuSeconds();
    const int error = glp_simplex(program_, &options);
    result.cpu_seconds = ThreadCpuSeconds() - start;
    const int status = glp_get_status(program_);
    if (error == 0 && status == GLP_OPT) {
      result.objective = glp_get_obj_val(program_);
    } else {
      result.is_conclusive = error == 0 && status == GLP_NOFEAS;
    }
    return result;
  }

  // REQUIRES: Solve() found an optimum.
  GlpkResult SolveIntegers() {
    glp_iocp options;
    glp_init_iocp(&options);
    options.msg_lev = GLP_MSG_OFF;
    options.tol_int = 1e-7;
    GlpkResult result;
    const double start = ThreadCpuSeconds();
    const int error = glp_intopt(program_, &options);
    result.cpu_seconds = ThreadCpuSeconds() - start;
    const int status = glp_mip_status(program_);
    if (error == 0 && status == GLP_OPT) {
      result.objective = glp_mip_obj_val(program_);
    } else {
      result.is_conclusive = error == 0 && status == GLP_NOFEAS;
    }
    return result;
  }

 private:
  // One column a segment.  As costs rise, an optimum fills them in order, but
  // for the units of the lower bound, which the first segments have to take.
  std::vector<int> AddSegments(const FlowProblem& problem, ArcIndex index) {
    const FlowProblem::Arc& arc = problem.arc(index);
    const FlowGain gain = problem.gain(index);
    const double arriving = double{1} * gain.numerator / gain.denominator;
    std::vector<int> columns;
    FlowUnits lower = arc.lower;
    for (const auto& [width, cost] : problem.segments(index)) {
      const FlowUnits lower_here = std::min(lower, width);
      lower -= lower_here;
      const int column = glp_add_cols(program_, 1);
      columns.push_back(column);
      glp_set_col_bnds(program_, column, lower_here == width ? GLP_FX : GLP_DB,
                       static_cast<double>(lower_here),
                       static_cast<double>(width));
      glp_set_obj_coef(program_, column, static_cast<double>(cost));
      if (arc.tail == arc.head) {
        matrix_.Add(arc.tail + 1, column, 1 - arriving);
      } else {
        matrix_.Add(arc.tail + 1, column, 1);
        matrix_.Add(arc.head + 1, column, -arriving);
      }
    }
    return columns;
  }

  // The sum of the columns is the capacity times a binary variable.
  void AddBinary(const FlowProblem& problem, ArcIndex arc,
                 const std::vector<int>& columns) {
    const int row = glp_add_rows(program_, 1);
    glp_set_row_bnds(program_, row, GLP_FX, 0, 0);
    const int binary = glp_add_cols(program_, 1);
    glp_set_col_kind(program_, binary, GLP_BV);
    for (const int column : columns) matrix_.Add(row, column, 1);
    matrix_.Add(row, binary, -static_cast<double>(problem.arc(arc).capacity()));
  }

  glp_prob* program_;
  Matrix matrix_;
};

}  // namespace

GlpkResult SolveWithGlpk(const FlowProblem& problem) {
  return LinearProgram(problem, false).Solve();
}

GlpkResult SolveAllOrNoneWithGlpk(const FlowProblem& problem) {
  LinearProgram program(problem, true);
  const GlpkResult relaxed = program.Solve();
  return relaxed.objective.has_value() ? program.SolveIntegers() : relaxed;
}

}  // namespace sluice
