(** Refutations with the quantifiers of the sentence: no constant, no minimiser, no limit, no radius will do. *)

From Simopt Require Import Spaces Isotron.
Open Scope R_scope.

(** * KK-T1cor: the bound of Theorem 1 is not O(1/sqrt m), whatever W and delta are *)

Lemma large_nat x : exists n, (1 <= n)%nat /\ x < INR n.
Proof.
  destruct (archimed x) as [A _]. exists (S (Z.to_nat (up x))). split; [lia|]. rewrite S_INR. generalize (pos_INR (Z.to_nat (up x))). intros P.
  destruct (Z_le_gt_dec 0 (up x)) as [L|L]; [rewrite INR_IZR_INZ, Z2Nat.id by easy; lra|]. assert (IZR (up x) <= 0) by (apply IZR_le; lia). lra.
Qed.

Theorem KK_T1cor_no_constant W delta : 1 <= W -> 0 < delta <= 1 ->
  ~ exists K, forall m, (1 <= m)%nat -> sqrt (W ^ 2 * ln (INR m / delta) / INR m) <= K / sqrt (INR m).
Proof.
  intros HW D [K H]. destruct (large_nat (exp (K ^ 2))) as [m [M E]]. specialize (H m M).
  assert (P : 0 < INR m) by (apply lt_0_INR; lia). assert (Q : 0 < sqrt (INR m)) by now apply sqrt_lt_R0.
  assert (I : 1 <= / delta) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  assert (L : K ^ 2 < ln (INR m / delta)).
  { rewrite <- (ln_exp (K ^ 2)). apply ln_increasing; [apply exp_pos|]. apply Rlt_le_trans with (1 := E). unfold Rdiv.
    rewrite <- (Rmult_1_r (INR m)) at 1. apply Rmult_le_compat_l; lra. }
  assert (G : K ^ 2 < W ^ 2 * ln (INR m / delta)) 
    by (assert (1 <= W ^ 2) by nra; generalize (pow2_ge_0 K); intros; apply Rlt_le_trans with (1 := L); rewrite <- (Rmult_1_l (ln _)) at 1;
        apply Rmult_le_compat_r; lra).
  rewrite sqrt_div_alt in H by easy. assert (S : sqrt (W ^ 2 * ln (INR m / delta)) <= K).
  { apply (Rmult_le_reg_r (/ sqrt (INR m))); [now apply Rinv_0_lt_compat|]. exact H. }
  assert (T : Rabs K < sqrt (W ^ 2 * ln (INR m / delta))).
  { rewrite <- (sqrt_Rsqr_abs K). apply sqrt_lt_1_alt. split; [apply Rle_0_sqr|]. unfold Rsqr. lra. }
  generalize (Rle_abs K). lra.
Qed.

(** * AK-D3.1: a strictly convex objective need not have a minimiser: below every point of exp(-g) there is another *)

Definition strictly_convex (f : R -> R) : Prop := forall u w t, u <> w -> 0 < t < 1 -> f (t * u + (1 - t) * w) < t * f u + (1 - t) * f w.

Lemma exp_above_tangent m x : x <> m -> exp m * (1 + (x - m)) < exp x.
Proof.
  intros N. replace x with (m + (x - m)) at 2 by ring. rewrite exp_plus. apply Rmult_lt_compat_l; [apply exp_pos|]. apply exp_ineq1. lra.
Qed.

Lemma exp_strictly_convex : strictly_convex (fun g => exp (- g)).
Proof.
  intros u w t N T. set (m := - (t * u + (1 - t) * w)).
  assert (A : exp m * (1 + (- u - m)) < exp (- u)) by (apply exp_above_tangent; unfold m; intros E; apply N; nra).
  assert (B : exp m * (1 + (- w - m)) < exp (- w)) by (apply exp_above_tangent; unfold m; intros E; apply N; nra).
  assert (C : exp m = t * (exp m * (1 + (- u - m))) + (1 - t) * (exp m * (1 + (- w - m)))) by (unfold m; ring). nra.
Qed.

Theorem AK_D3_1_no_minimiser : exists f, strictly_convex f /\ forall g, exists better, f better < f g.
Proof.
  exists (fun g => exp (- g)). split; [exact exp_strictly_convex|]. intros g. exists (g + 1). apply exp_increasing. lra.
Qed.

Theorem AK_D3_1_negated : ~ forall f, strictly_convex f -> exists g, forall h, f g <= f h.
Proof.
  intros H. destruct AK_D3_1_no_minimiser as [f [S B]]. destruct (H f S) as [g G]. destruct (B g) as [h L]. specialize (G h). lra.
Qed.

(** * AK-Ex.b: no constants bound the change of ridge regression on n - 1 points x = sqrt lam, y = 1, and one point x = 1, y = -1 *)

(** The two minimisers of the regularised squared loss with the divisor n: of all points, and without the last one. *)
Definition ridge_of_all (n : nat) (s : R) : R := (INR (n - 1) * s - 1) / (INR (n - 1) * s ^ 2 + 1 + INR n * s ^ 2).
Definition ridge_of_others (n : nat) (s : R) : R := INR (n - 1) * s / (INR (n - 1) * s ^ 2 + INR n * s ^ 2).
Definition ridge_risk (points : list (R * R)) (n : nat) (lam w : R) : R :=
  sum (map (fun p => (w * fst p - snd p) ^ 2) points) / INR n + lam * w ^ 2.
Definition copies (n : nat) (s : R) : list (R * R) := repeat (s, 1) (n - 1).

Lemma sum_of_copies k s w : sum (map (fun p => (w * fst p - snd p) ^ 2) (repeat (s, 1) k)) = INR k * (w * s - 1) ^ 2.
Proof. induction k as [|k IH]; [unfold sum; simpl; ring|]. cbn [repeat map fst snd]. rewrite sum_cons, IH, S_INR. ring. Qed.

Lemma parabola a b c w v : 0 < a -> a * w = b -> a * w ^ 2 - 2 * b * w + c <= a * v ^ 2 - 2 * b * v + c.
Proof. intros A E. assert (0 <= a * (v - w) ^ 2) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]). nra. Qed.

Theorem ridge_of_all_minimises n s v : (2 <= n)%nat -> 0 < s ->
  ridge_risk ((1, -1) :: copies n s) n (s ^ 2) (ridge_of_all n s) <= ridge_risk ((1, -1) :: copies n s) n (s ^ 2) v.
Proof.
  intros N S. assert (P : 0 < INR n) by (apply lt_0_INR; lia). assert (Q : 0 < INR (n - 1)) by (apply lt_0_INR; lia). assert (0 < s ^ 2) by nra.
  unfold ridge_risk, copies. cbn [map fst snd]. rewrite !sum_cons, !sum_of_copies. set (k := INR (n - 1)) in *. set (N' := INR n) in *.
  set (a := k * s ^ 2 + 1 + N' * s ^ 2). assert (A : 0 < a) by (unfold a; nra).
  assert (E : forall w, ((w * 1 - -1) ^ 2 + k * (w * s - 1) ^ 2) / N' + s ^ 2 * w ^ 2 = / N' * (a * w ^ 2 - 2 * (k * s - 1) * w + (k + 1)))
    by (intros w; unfold a; field; lra).
  rewrite !E. apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|]. apply parabola; [easy|]. unfold ridge_of_all. fold k N' a. field. lra.
Qed.

Theorem ridge_of_others_minimises n s v : (2 <= n)%nat -> 0 < s ->
  ridge_risk (copies n s) n (s ^ 2) (ridge_of_others n s) <= ridge_risk (copies n s) n (s ^ 2) v.
Proof.
  intros N S. assert (P : 0 < INR n) by (apply lt_0_INR; lia). assert (Q : 0 < INR (n - 1)) by (apply lt_0_INR; lia). assert (0 < s ^ 2) by nra.
  unfold ridge_risk, copies. rewrite !sum_of_copies. set (k := INR (n - 1)) in *. set (N' := INR n) in *.
  set (a := k * s ^ 2 + N' * s ^ 2). assert (A : 0 < a) by (unfold a; nra).
  assert (E : forall w, k * (w * s - 1) ^ 2 / N' + s ^ 2 * w ^ 2 = / N' * (a * w ^ 2 - 2 * (k * s) * w + k)) by (intros w; unfold a; field; lra).
  rewrite !E. apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|]. apply parabola; [easy|]. unfold ridge_of_others. fold k N' a. field. lra.
Qed.

(** The change of the squared loss at the point that is removed. *)
Definition ridge_change (n : nat) (s : R) : R := (ridge_of_others n s + 1) ^ 2 - (ridge_of_all n s + 1) ^ 2.

Lemma ridge_change_is_large n s : 0 < s <= 1 / 2 -> 1 <= INR n * s ^ 2 -> 1 / 27 <= INR n * s ^ 4 * ridge_change n s.
Proof.
  intros S N. assert (N4 : 4 <= INR n).
  { assert (s ^ 2 <= 1 / 4) by nra. assert (INR n * s ^ 2 <= INR n * (1 / 4)) by (apply Rmult_le_compat_l; [apply pos_INR | easy]). lra. }
  assert (K : INR (n - 1) = INR n - 1).
  { rewrite minus_INR; [simpl; ring|]. apply INR_le. simpl. lra. }
  unfold ridge_change, ridge_of_all, ridge_of_others. rewrite K. set (n' := INR n) in *.
  replace ((n' - 1) * s ^ 2 + n' * s ^ 2) with ((2 * n' - 1) * s ^ 2) by ring.
  replace ((n' - 1) * s ^ 2 + 1 + n' * s ^ 2) with ((2 * n' - 1) * s ^ 2 + 1) by ring.
  set (v := (n' - 1) * s / ((2 * n' - 1) * s ^ 2)). set (w := ((n' - 1) * s - 1) / ((2 * n' - 1) * s ^ 2 + 1)).
  assert (S2 : 0 < s ^ 2) by nra. assert (A : 0 < (2 * n' - 1) * s ^ 2) by nra. assert (B : 0 < (2 * n' - 1) * s ^ 2 + 1) by lra.
  assert (V : v * (s * (2 * n' - 1)) = n' - 1) by (unfold v; field; repeat split; lra).
  assert (D : (v - w) * ((2 * n' - 1) * s * ((2 * n' - 1) * s ^ 2 + 1)) = n' - 1 + (2 * n' - 1) * s) by (unfold v, w; field; repeat split; lra).
  assert (V3 : 1 / 3 <= s * v).
  { apply (Rmult_le_reg_r (2 * n' - 1)); [lra|]. replace (s * v * (2 * n' - 1)) with (n' - 1) by (rewrite <- V; ring). lra. }
  assert (W0 : 0 <= w).
  { unfold w. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra]. nra. }
  assert (L : (2 * n' - 1) * s ^ 2 + 1 <= 3 * (n' * s ^ 2)) by nra.
  assert (D9 : 1 / 9 <= n' * s ^ 3 * (v - w)).
  { assert (X : 0 < (2 * n' - 1) * s * ((2 * n' - 1) * s ^ 2 + 1)) by (apply Rmult_lt_0_compat; nra).
    assert (Y : 0 <= v - w) by (apply (Rmult_le_reg_r _ _ _ X); rewrite D; nra).
    assert (Z : n' - 1 <= (v - w) * ((2 * n' - 1) * s * (3 * (n' * s ^ 2)))).
    { apply Rle_trans with ((v - w) * ((2 * n' - 1) * s * ((2 * n' - 1) * s ^ 2 + 1))); [rewrite D; nra|].
      apply Rmult_le_compat_l; [easy|]. apply Rmult_le_compat_l; nra. }
    apply (Rmult_le_reg_r (3 * (2 * n' - 1))); [lra|]. replace (n' * s ^ 3 * (v - w) * (3 * (2 * n' - 1)))
      with ((v - w) * ((2 * n' - 1) * s * (3 * (n' * s ^ 2)))) by ring. lra. }
  replace (n' * s ^ 4 * ((v + 1) ^ 2 - (w + 1) ^ 2)) with (n' * s ^ 3 * (v - w) * (s * (2 + v + w))) by ring.
  assert (1 / 3 <= s * (2 + v + w)) by nra. nra.
Qed.

Theorem AK_Ex_b_no_constants : forall C1 C2, exists n s, (2 <= n)%nat /\ 0 < s /\
  ~ ridge_change n s <= C1 * (1 + C2 / s) / (INR n * s ^ 2).
Proof.
  intros C1 C2. set (c := Rabs C1 * (1 + Rabs C2)). assert (C : 0 <= c) by (apply Rmult_le_pos; generalize (Rabs_pos C1) (Rabs_pos C2); lra).
  set (s := 1 / (54 * c + 2)). assert (S0 : 0 < s) by (apply Rdiv_lt_0_compat; lra).
  assert (S1 : s * (54 * c + 2) = 1) by (unfold s; field; lra). assert (S2 : s <= 1 / 2) by nra.
  destruct (large_nat (/ s ^ 2)) as [n [N1 N]]. assert (P : 0 < s ^ 2) by nra.
  assert (NS : 1 <= INR n * s ^ 2). { apply Rlt_le in N. apply (Rmult_le_compat_r (s ^ 2)) in N; [|lra]. rewrite Rinv_l in N; lra. }
  exists n, s. split; [apply INR_le; simpl; nra|]. split; [easy|]. intros H.
  generalize (ridge_change_is_large n s ltac:(lra) NS). intros G.
  assert (N0 : 0 < INR n * s ^ 2) by lra.
  apply (Rmult_le_compat_r (INR n * s ^ 2 * s ^ 2)) in H; [|nra].
  replace (C1 * (1 + C2 / s) / (INR n * s ^ 2) * (INR n * s ^ 2 * s ^ 2)) with (C1 * (s ^ 2 + C2 * s)) in H by (field; split; nra).
  replace (ridge_change n s * (INR n * s ^ 2 * s ^ 2)) with (INR n * s ^ 4 * ridge_change n s) in H by ring.
  assert (B : C1 * (s ^ 2 + C2 * s) <= c * s).
  { apply Rle_trans with (Rabs (C1 * (s ^ 2 + C2 * s))); [apply Rle_abs|]. rewrite Rabs_mult. unfold c. rewrite Rmult_assoc.
    apply Rmult_le_compat_l; [apply Rabs_pos|]. apply Rle_trans with (1 := Rabs_triang _ _). rewrite (Rabs_mult C2 s), (Rabs_right s), (Rabs_right (s ^ 2)) by lra.
    generalize (Rabs_pos C2). nra. }
  nra.
Qed.

(** * AK-P4.7pf: under Assumption 1 the parameter need not come back: lam / 2 stays away from lam for every n *)

(** Assumption 1 for a map that a set of samples may enter: one sample less changes it by at most C(n), which falls to 0. *)
Definition assumption_1 {A} (Phi : R -> list A -> R) : Prop := exists C : nat -> R,
  (forall n k, (n <= k)%nat -> C k <= C n) /\ (forall eps, 0 < eps -> exists N, forall n, (N <= n)%nat -> Rabs (C n) < eps) /\
  forall lam before x after, 0 < lam -> Rabs (Phi lam (before ++ x :: after) - Phi lam (before ++ after)) <= C (length (before ++ x :: after)).

Theorem AK_P4_7pf_no_limit : exists Phi : R -> list R -> R, assumption_1 Phi /\
  forall lam, 0 < lam -> exists eps, 0 < eps /\ forall N, exists n, (N <= n)%nat /\ forall Z, length Z = n -> eps <= Rabs (Phi lam Z - lam).
Proof.
  exists (fun lam _ => lam / 2). split.
  - exists (fun _ => 0). split; [intros; lra|]. split; [intros eps E; exists 0%nat; intros; rewrite Rabs_R0; lra|].
    intros lam before x after L. unfold Rminus. rewrite Rplus_opp_r, Rabs_R0. lra.
  - intros lam L. exists (lam / 2). split; [lra|]. intros N. exists N. split; [lia|]. intros Z _. replace (lam / 2 - lam) with (- (lam / 2)) by field.
    rewrite Rabs_Ropp, Rabs_right; lra.
Qed.

Theorem AK_P4_7pf_negated : ~ forall Phi : R -> list R -> R, assumption_1 Phi -> forall lam, 0 < lam ->
  forall Z : nat -> list R, (forall n, length (Z n) = n) -> forall eps, 0 < eps -> exists N, forall n, (N <= n)%nat -> Rabs (Phi lam (Z n) - lam) < eps.
Proof.
  intros H. destruct AK_P4_7pf_no_limit as [Phi [A B]]. destruct (B 1 ltac:(lra)) as [eps [E F]].
  destruct (H Phi A 1 ltac:(lra) (fun n => repeat 0 n) ltac:(intros; apply repeat_length) eps E) as [N G].
  destruct (F N) as [n [L X]]. specialize (G n L). specialize (X (repeat 0 n) (repeat_length 0 n)). lra.
Qed.

(** * AK-P5.1Gam: whatever Gamma > 0 is, the constrained problem on x = e1 twice, y = 1 and y = -1, has a solution beside f_Z = 0 *)

Definition plane_risk (f : R * R) : R := ((fst f - 1) ^ 2 + (fst f + 1) ^ 2) / 2.
Definition plane_norm (f : R * R) : R := sqrt (fst f ^ 2 + snd f ^ 2).
(** ||f||^m, which is 0 at 0. *)
Definition plane_power (m : R) (f : R * R) : R := if Req_EM_T (plane_norm f) 0 then 0 else Rpower (plane_norm f) m.
Definition constrained_solution (m Gamma : R) (f : R * R) : Prop :=
  plane_power m f <= Gamma /\ forall g, plane_power m g <= Gamma -> plane_risk f <= plane_risk g.
Definition penalised_solution (m lam : R) (f : R * R) : Prop :=
  forall g, plane_risk f + lam * plane_power m f <= plane_risk g + lam * plane_power m g.

Lemma plane_power_positive m f : 0 <= plane_power m f.
Proof. unfold plane_power. destruct (Req_EM_T _ _); [lra|]. left. apply exp_pos. Qed.

Lemma plane_risk_least f : 1 <= plane_risk f.
Proof. unfold plane_risk. generalize (pow2_ge_0 (fst f)). nra. Qed.

Lemma plane_risk_up v : plane_risk (0, v) = 1.
Proof. unfold plane_risk. cbn [fst snd]. field. Qed.

Lemma plane_norm_origin : plane_norm (0, 0) = 0.
Proof. unfold plane_norm. cbn [fst snd]. replace (0 ^ 2 + 0 ^ 2) with 0 by ring. apply sqrt_0. Qed.

Lemma plane_power_origin m : plane_power m (0, 0) = 0.
Proof. unfold plane_power. destruct (Req_EM_T _ _) as [_|N]; [easy|]. now destruct (N plane_norm_origin). Qed.

Lemma plane_power_up m v : 0 < v -> plane_power m (0, v) = Rpower v m.
Proof.
  intros V. assert (E : plane_norm (0, v) = v) by (unfold plane_norm; cbn [fst snd]; replace (0 ^ 2 + v ^ 2) with (v ^ 2) by ring; apply sqrt_pow2; lra).
  unfold plane_power. rewrite E. destruct (Req_EM_T v 0); [lra | easy].
Qed.

Theorem AK_P5_1Gam_no_radius m lam : 1 < m -> 0 < lam -> penalised_solution m lam (0, 0) /\
  forall Gamma, 0 < Gamma -> exists v, v <> (0, 0) /\ constrained_solution m Gamma v.
Proof.
  intros M L. split.
  - intros g. rewrite plane_power_origin, plane_risk_up. generalize (plane_risk_least g) (Rmult_le_pos lam _ ltac:(lra) (plane_power_positive m g)). lra.
  - intros Gamma G. exists (0, Rpower Gamma (/ m)). assert (P : 0 < Rpower Gamma (/ m)) by apply exp_pos. split.
    + intros E. injection E. intros. lra.
    + split.
      * rewrite plane_power_up by easy. rewrite Rpower_mult, Rinv_l by lra. rewrite Rpower_1 by easy. lra.
      * intros g _. rewrite plane_risk_up. apply plane_risk_least.
Qed.

Theorem AK_P5_1Gam_negated m lam : 1 < m -> 0 < lam ->
  ~ exists Gamma, 0 < Gamma /\ forall f, penalised_solution m lam f <-> constrained_solution m Gamma f.
Proof.
  intros M L [Gamma [G H]]. destruct (AK_P5_1Gam_no_radius m lam M L) as [Z B]. destruct (B Gamma G) as [v [V C]]. apply H in C.
  specialize (C (0, 0)). rewrite plane_power_origin, plane_risk_up in C. generalize (plane_risk_least v). intros R.
  assert (0 < plane_power m v).
  { unfold plane_power. destruct (Req_EM_T (plane_norm v) 0) as [E|E]; [|apply exp_pos]. exfalso. apply V. unfold plane_norm in E.
    assert (S : fst v ^ 2 + snd v ^ 2 = 0) by (apply sqrt_eq_0; [generalize (pow2_ge_0 (fst v)) (pow2_ge_0 (snd v)); lra | easy]).
    destruct v as [a b]. cbn [fst snd] in S. generalize (pow2_ge_0 a) (pow2_ge_0 b). intros. f_equal; nra. }
  nra.
Qed.

(** * KK-P1: no constant bounds 1/4, where the mean of |y^t - E y| stays on orthonormal samples, by (log (m / delta) / m)^(1/4) for delta = 1/4 *)

Theorem KK_P1_no_constant : forall C, exists m, (1 <= m)%nat /\ ~ 1 / 4 <= C * Rpower (ln (4 * INR m) / INR m) (1 / 4).
Proof.
  intros C. set (c := Rmax C 1). assert (C1 : 1 <= c) by apply Rmax_r. assert (C0 : C <= c) by apply Rmax_l.
  destruct (large_nat (16 * (4 * c) ^ 8)) as [m [M L]]. exists m. split; [easy|]. intros H.
  assert (P : 0 < INR m) by (apply lt_0_INR; lia). set (r := sqrt (INR m)). assert (R0 : 0 < r) by now apply sqrt_lt_R0.
  assert (RR : r * r = INR m) by (apply sqrt_def; lra).
  assert (M1 : 1 <= INR m) by (apply le_INR in M; exact M).
  assert (LN : 0 < ln (4 * INR m)) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (B : ln (4 * INR m) <= 4 * r).
  { rewrite <- RR. replace (4 * (r * r)) with (2 * r * (2 * r)) by ring. rewrite ln_mult by lra. generalize (exp_ineq1_le (ln (2 * r))).
    rewrite exp_ln by lra. lra. }
  assert (Q : ln (4 * INR m) / INR m <= 4 / r).
  { apply (Rmult_le_reg_r (INR m)); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. rewrite <- RR at 2.
    replace (4 * / r * (r * r)) with (4 * r) by (field; lra). exact B. }
  assert (F : 4 * (4 * c) ^ 4 < r).
  { apply Rsqr_incrst_0; [|assert (0 <= (4 * c) ^ 4) by (apply pow_le; lra); lra | lra]. unfold Rsqr. rewrite RR.
    replace (4 * (4 * c) ^ 4 * (4 * (4 * c) ^ 4)) with (16 * (4 * c) ^ 8) by ring. easy. }
  assert (X : 0 < (4 * c) ^ 4) by (apply pow_lt; lra).
  assert (G : 4 / r < / (4 * c) ^ 4).
  { apply (Rmult_lt_reg_r (r * (4 * c) ^ 4)); [now apply Rmult_lt_0_compat|]. replace (4 / r * (r * (4 * c) ^ 4)) with (4 * (4 * c) ^ 4) by (field; lra).
    replace (/ (4 * c) ^ 4 * (r * (4 * c) ^ 4)) with r by (field; lra). easy. }
  assert (Z : Rpower (ln (4 * INR m) / INR m) (1 / 4) < / (4 * c)).
  { apply Rle_lt_trans with (Rpower (4 / r) (1 / 4)).
    - apply Rle_Rpower_l; [lra|]. split; [now apply Rdiv_lt_0_compat | easy].
    - apply Rlt_le_trans with (Rpower (/ (4 * c) ^ 4) (1 / 4)).
      + apply Rlt_Rpower_l; [lra|]. split; [apply Rdiv_lt_0_compat; lra | easy].
      + replace (/ (4 * c) ^ 4) with (Rpower (/ (4 * c)) (INR 4)).
        * rewrite Rpower_mult. replace (INR 4 * (1 / 4)) with 1 by (simpl; field). rewrite Rpower_1 by (apply Rinv_0_lt_compat; lra). lra.
        * rewrite Rpower_pow by (apply Rinv_0_lt_compat; lra). field. lra. }
  assert (N : 0 <= Rpower (ln (4 * INR m) / INR m) (1 / 4)) by (left; apply exp_pos).
  assert (Y : C * Rpower (ln (4 * INR m) / INR m) (1 / 4) < 1 / 4).
  { apply Rle_lt_trans with (c * Rpower (ln (4 * INR m) / INR m) (1 / 4)); [now apply Rmult_le_compat_r|].
    apply Rlt_le_trans with (c * / (4 * c)); [apply Rmult_lt_compat_l; lra|]. right. field. lra. }
  lra.
Qed.

(** * KK-T2: no constant C makes part 1 true for all W, m and delta, d = 1 *)

Lemma two_filters {A} (f g : A -> bool) l : (length l < length (filter f l) + length (filter g l))%nat -> exists a, In a l /\ f a = true /\ g a = true.
Proof.
  induction l as [|a l IH]; [simpl; lia|]. cbn [filter length]. destruct (f a) eqn:F, (g a) eqn:G; cbn [length]; intros H.
  - exists a. split; [now left | easy].
  - destruct IH as [b [B C]]; [lia|]. exists b. split; [now right | easy].
  - destruct IH as [b [B C]]; [lia|]. exists b. split; [now right | easy].
  - destruct IH as [b [B C]]; [lia|]. exists b. split; [now right | easy].
Qed.

Lemma likely_together {A} m (law : list A) p q P Q : law <> [] -> 1 < p + q -> likely m law p P -> likely m law q Q ->
  exists s, In s (draws m law) /\ P s /\ Q s.
Proof.
  intros L S [f [F FP]] [g [G GP]]. assert (N : (0 < length (draws m law))%nat).
  { clear - L. destruct law as [|a law]; [easy|]. assert (H : In (repeat a m) (draws m (a :: law))).
    { induction m as [|m IH]; [now left|]. cbn [draws repeat]. apply in_flat_map. exists a. split; [now left | now apply in_map]. }
    destruct (draws m (a :: law)); [easy | simpl; lia]. }
  apply lt_0_INR in N. set (n := INR (length (draws m law))) in *.
  destruct (two_filters f g (draws m law)) as [s [I [X Y]]]; [|exists s; auto]. apply INR_lt. rewrite plus_INR. fold n.
  apply (Rmult_le_compat_r n) in FP; [|lra]. apply (Rmult_le_compat_r n) in GP; [|lra]. unfold Rdiv in FP, GP. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in FP, GP by lra.
  nra.
Qed.

Theorem KK_T2_no_constant : ~ exists C, 0 < C /\ forall W m delta, 1 <= W -> (1 <= m)%nat -> 0 < delta < 1 ->
  likely m (two W) (1 - delta) (fun s => forall w u, l_isotron s w u -> let M := INR m / ln (W * INR m / delta) in
    exists t, INR t <= C * Rpower (W * M) (1 / 3) /\ error (fun x => ramp (W * x)) s (fun x => u t (w t * x)) <= C * Rpower (W ^ 2 / M) (1 / 3)).
Proof.
  intros [C [C0 H]]. set (c := Rmax C 1). assert (C1 : 1 <= c) by apply Rmax_r. assert (CC : C <= c) by apply Rmax_l.
  destruct (KK_T2_sharp_thirds 1 c (1 / 4) 16 ltac:(lia) C1 ltac:(lra)) as [W [m [HW [M L]]]].
  specialize (H W m (1 / 4) HW ltac:(lia) ltac:(lra)). assert (M16 : 16 <= INR m) by (apply le_INR in M; simpl in M; lra).
  assert (E : exp (- (INR m / 8)) < 1 / 4).
  { rewrite exp_Ropp. replace (1 / 4) with (/ 4) by field. apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; [lra | apply exp_pos]|].
    apply Rlt_le_trans with (exp 2); [|destruct (Req_dec (INR m / 8) 2) as [->|X]; [lra | left; apply exp_increasing; lra]].
    replace 2 with (1 + 1) by ring. rewrite exp_plus. generalize (exp_ineq1 1 ltac:(lra)). intros. nra. }
  assert (S : 1 < 1 - 2 * exp (- (INR m / 8)) + (1 - 1 / 4)) by lra. assert (NE : two W <> []) by easy.
  destruct (likely_together m (two W) _ _ _ _ NE S L H) as [s [_ [[[w [u R]] X] Y]]].
  specialize (X w u R). specialize (Y w u R). cbv zeta in X, Y. set (Q := INR m / ln (W * INR m / (1 / 4))) in *.
  destruct Y as [t [T B]]. assert (QP : 0 < Q).
  { apply Rdiv_lt_0_compat; [lra|]. rewrite <- ln_1. apply ln_increasing; [lra|]. unfold Rdiv. rewrite Rinv_mult, Rinv_inv, Rinv_1. nra. }
  assert (T' : INR t <= c * Rpower (W * Q) (1 / 3)) by (apply Rle_trans with (1 := T); apply Rmult_le_compat_r; [left; apply exp_pos | easy]).
  specialize (X t T'). assert (P3 : Rpower W (5 - 2 / INR 1) = W ^ 3).
  { replace (5 - 2 / INR 1) with (INR 3) by (simpl; field). apply Rpower_pow. lra. }
  rewrite P3 in X. assert (D : Rpower (W ^ 2 / Q) (1 / 3) <= Rpower (W ^ 3 / Q) (1 / 3)).
  { apply Rle_Rpower_l; [lra|]. split; [apply Rdiv_lt_0_compat; nra|]. apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. simpl. nra. }
  assert (N : 0 < Rpower (W ^ 2 / Q) (1 / 3)) by apply exp_pos. nra.
Qed.
